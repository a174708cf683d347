// A mutex on a futex (Drepper, Futexes are tricky, 2004, "mutex 2"): 0 is free, 1 is held, 2 is held and
// somebody may be asleep.
// expect: robust rc20=yes
// Why: futex-mutex.tpl, by the static engine; the kernel's look at the futex orders nothing.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guarded.h"

#ifndef UNLOCK
#define UNLOCK memory_order_release
#endif

static atomic_int state;

static void lock(void) {
    int seen = 0;
    if (atomic_compare_exchange_strong_explicit(&state, &seen, 1, memory_order_acquire, memory_order_acquire))
        return;
    while (atomic_exchange_explicit(&state, 2, memory_order_acquire) != 0)
        syscall(SYS_futex, &state, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static void unlock(void) {
    if (atomic_exchange_explicit(&state, 0, UNLOCK) == 2)
        syscall(SYS_futex, &state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void thread_body(int number) {
    (void)number;
    for (int i = 0; i < ROUNDS; i++) {
        lock();
        count_one();
        unlock();
    }
}

int main(void) {
    return count_with(THREADS);
}
