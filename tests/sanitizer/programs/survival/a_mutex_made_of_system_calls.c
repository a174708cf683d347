// A mutex made of system calls.
//
// prints: 300
#include "all.h"

#include <linux/futex.h>
#include <sys/syscall.h>
static atomic_uint word;  /* 0: free, 1: locked, 2: others wait */
static int count;
static long futex(int operation, unsigned value) {
    return syscall(SYS_futex, &word, operation, value, NULL, NULL, 0);
}
static void lock(void) {
    unsigned seen = 0;
    if (atomic_compare_exchange_strong_explicit(&word, &seen, 1, memory_order_acquire, RELAXED)) return;
    while (atomic_exchange_explicit(&word, 2, memory_order_acquire) != 0) futex(FUTEX_WAIT_PRIVATE, 2);
}
static void unlock(void) {
    if (atomic_exchange_explicit(&word, 0, memory_order_release) == 2) futex(FUTEX_WAKE_PRIVATE, 1);
}
static void* work(void* _) {
    for (int i = 0; i < 100; ++i) {
        lock();
        ++count;
        if (i % 10 == 0) syscall(SYS_sched_yield);
        unlock();
    }
    return _;
}
int main(void) {
    assert(syscall(SYS_gettid) == getpid());
    pthread_t threads[3];
    for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
    printf("%d", count);
    return 0;
}
