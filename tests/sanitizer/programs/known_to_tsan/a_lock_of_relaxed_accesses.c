// A spin lock whose atomics order nothing, because the processor does (say); annotations say that it is a mutex.
//
// seen in: full races
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
void __tsan_mutex_pre_lock(void*, unsigned);
void __tsan_mutex_post_lock(void*, unsigned, int);
int __tsan_mutex_pre_unlock(void*, unsigned);
void __tsan_mutex_post_unlock(void*, unsigned);
static atomic_int taken;
static int count, statistics;
static void lock(void) {
#ifndef SILENT
    __tsan_mutex_pre_lock(&taken, 0);
    ++statistics;  // of the lock itself: not the program's
#endif
    while (atomic_exchange_explicit(&taken, 1, memory_order_relaxed) != 0) {
        struct timespec const little = {0, 1000};
        nanosleep(&little, 0);
    }
#ifndef SILENT
    __tsan_mutex_post_lock(&taken, 0, 0);
#endif
}
static void unlock(void) {
#ifndef SILENT
    __tsan_mutex_pre_unlock(&taken, 0);
#endif
    atomic_store_explicit(&taken, 0, memory_order_relaxed);
#ifndef SILENT
    __tsan_mutex_post_unlock(&taken, 0);
#endif
}
static void* work(void* _) {
    for (int i = 0; i < 10; ++i) {
        lock();
        ++count;
        unlock();
    }
    return _;
}
int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; ++i) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 2; ++i) pthread_join(t[i], 0);
    return count - 20;
}
