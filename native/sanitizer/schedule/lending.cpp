#include "sanitizer/schedule/lending.hpp"

#include <errno.h>

#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/real.hpp"

extern "C" {
[[gnu::weak]] extern char __libc_single_threaded;
void* __libc_malloc(std::size_t) noexcept;
void __libc_free(void*) noexcept;
}

namespace fencepost::scheduler::lending {

struct Worker {
    Fiber fiber;
    pthread_t handle;
    void* (*routine)(void*);
    void* argument;
    Worker* next;
};

namespace {

bool on = false;
Worker* first_free = nullptr;
Worker* last_free = nullptr;
std::uint32_t lent_count = 0, made_count = 0;
Fiber* lender = nullptr;

void* wait_to_be_lent(void* argument) {
    Worker& worker = *static_cast<Worker*>(argument);
    void* volatile const block = __libc_malloc(1);  // makes its heap
    __libc_free(block);
    await_first_turn(worker.fiber);
    return worker.routine(worker.argument);
}

void note_single_thread(bool single) {
    if (&__libc_single_threaded != nullptr) __libc_single_threaded = static_cast<char>(single);
}

int make_worker(pthread_attr_t const* attributes, Worker*& made) {
    auto* const worker = static_cast<Worker*>(memory::allocate(sizeof(Worker)));
    *worker = {};
    int const error = REAL(pthread_create)(&worker->handle, attributes, wait_to_be_lent, worker);
    if (error != 0) {
        memory::release(worker, sizeof(Worker));
        return error;
    }
    await_parked(worker->fiber);
    ++made_count;
    made = worker;
    return 0;
}

bool is_usual(pthread_attr_t const* attributes) {
    if (attributes == nullptr) return true;
    pthread_attr_t usual;
    pthread_attr_init(&usual);
    std::size_t wanted = 0, usually = 0, guard = 0, usual_guard = 0;
    void* stack = nullptr;
    pthread_attr_getstacksize(attributes, &wanted);
    pthread_attr_getstacksize(&usual, &usually);
    pthread_attr_getguardsize(attributes, &guard);
    pthread_attr_getguardsize(&usual, &usual_guard);
    std::size_t size = 0;
    pthread_attr_getstack(attributes, &stack, &size);
    void* const none = reinterpret_cast<void*>(-static_cast<std::uintptr_t>(size));
    pthread_attr_destroy(&usual);
    return wanted == usually && guard == usual_guard && (stack == nullptr || stack == none);
}

}  // namespace

bool is_on() {
    return on;
}

void start() {
    on = user_space_switching();
}

void make(std::uint32_t count) {
    for (Worker* worker = nullptr; count > 0 && make_worker(nullptr, worker) == 0; --count) {
        (last_free != nullptr ? last_free->next : first_free) = worker;
        last_free = worker;
    }
    note_single_thread(true);
}

std::uint32_t lent() {
    return lent_count;
}

std::uint32_t made() {
    return made_count;
}

int begin(detail::Thread& thread, pthread_t* handle, pthread_attr_t const* attributes,
          void* (*routine)(void*), void* argument) {
    Worker* worker = nullptr;
    if (first_free != nullptr && is_usual(attributes)) {
        worker = first_free;
        first_free = worker->next;
        if (first_free == nullptr) last_free = nullptr;
    } else if (int const error = make_worker(attributes, worker); error != 0) {
        return error;
    }
    note_single_thread(false);
    ++lent_count;
    Fiber& self = detail::self->fiber;
    *handle = worker->handle;
    worker->routine = routine;
    worker->argument = argument;
    thread.fiber = worker->fiber;
    thread.fiber.signal_mask = self.signal_mask;
    lender = &self;
    switch_fibers(self, thread.fiber);
    return 0;
}

void begun(detail::Thread& self) {
    switch_fibers(self.fiber, *lender);
}

}  // namespace fencepost::scheduler::lending
