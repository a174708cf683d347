// The threads of C11. The C library makes them with its own names of the pthread functions, so they would
// pass us by; its objects are those of pthreads, and so are ours.
#include <pthread.h>
#include <threads.h>

#include <cstdint>

#include "sanitizer/hooks/interpose.hpp"
#include "sanitizer/system/memory.hpp"

using namespace fencepost;

namespace {

int c11_result(int error) {
    switch (error) {
        case 0:
            return thrd_success;
        case ENOMEM:
        case EAGAIN:
            return thrd_nomem;
        case ETIMEDOUT:
            return thrd_timedout;
        case EBUSY:
            return thrd_busy;
        default:
            return thrd_error;
    }
}

pthread_mutex_t* as_pthread(mtx_t* mutex) {
    return reinterpret_cast<pthread_mutex_t*>(mutex);
}
pthread_cond_t* as_pthread(cnd_t* condition) {
    return reinterpret_cast<pthread_cond_t*>(condition);
}

struct Start {
    thrd_start_t routine;
    void* argument;
};

void* as_result(int result) {
    return reinterpret_cast<void*>(static_cast<std::intptr_t>(result));
}

void* run(void* data) {
    Start const start = *static_cast<Start*>(data);
    memory::release(data, sizeof(Start));
    return as_result(start.routine(start.argument));
}

}  // namespace

FENCEPOST_INTERPOSE int thrd_create(thrd_t* thread, thrd_start_t routine, void* argument) {
    auto* const start = static_cast<Start*>(memory::allocate(sizeof(Start)));
    *start = {routine, argument};
    int const error = pthread_create(thread, nullptr, run, start);
    if (error != 0) memory::release(start, sizeof(Start));
    return c11_result(error);
}

FENCEPOST_INTERPOSE int thrd_join(thrd_t thread, int* result) {
    void* value = nullptr;
    int const error = pthread_join(thread, &value);
    if (error == 0 && result != nullptr) *result = static_cast<int>(reinterpret_cast<std::intptr_t>(value));
    return c11_result(error);
}

FENCEPOST_INTERPOSE int thrd_detach(thrd_t thread) {
    return c11_result(pthread_detach(thread));
}

FENCEPOST_INTERPOSE void thrd_exit(int result) {
    pthread_exit(as_result(result));
}

FENCEPOST_INTERPOSE int mtx_lock(mtx_t* mutex) {
    return c11_result(pthread_mutex_lock(as_pthread(mutex)));
}

FENCEPOST_INTERPOSE int mtx_trylock(mtx_t* mutex) {
    return c11_result(pthread_mutex_trylock(as_pthread(mutex)));
}

FENCEPOST_INTERPOSE int mtx_timedlock(mtx_t* __restrict mutex, timespec const* __restrict until) {
    return c11_result(pthread_mutex_timedlock(as_pthread(mutex), until));
}

FENCEPOST_INTERPOSE int mtx_unlock(mtx_t* mutex) {
    return c11_result(pthread_mutex_unlock(as_pthread(mutex)));
}

FENCEPOST_INTERPOSE void mtx_destroy(mtx_t* mutex) {
    pthread_mutex_destroy(as_pthread(mutex));
}

FENCEPOST_INTERPOSE int cnd_wait(cnd_t* condition, mtx_t* mutex) {
    return c11_result(pthread_cond_wait(as_pthread(condition), as_pthread(mutex)));
}

FENCEPOST_INTERPOSE int cnd_timedwait(cnd_t* __restrict condition, mtx_t* __restrict mutex,
                                      timespec const* __restrict until) {
    return c11_result(pthread_cond_timedwait(as_pthread(condition), as_pthread(mutex), until));
}

FENCEPOST_INTERPOSE int cnd_signal(cnd_t* condition) {
    return c11_result(pthread_cond_signal(as_pthread(condition)));
}

FENCEPOST_INTERPOSE int cnd_broadcast(cnd_t* condition) {
    return c11_result(pthread_cond_broadcast(as_pthread(condition)));
}

FENCEPOST_INTERPOSE void call_once(once_flag* flag, void (*initialise)()) {
    pthread_once(reinterpret_cast<pthread_once_t*>(flag), initialise);
}
