// A ticket lock (Mellor-Crummey and Scott, Algorithms for scalable synchronization on shared-memory
// multiprocessors, 1991): draw a ticket, wait until it is served. The draw is acquire-release, so that a
// thread that draws after another also knows what that one has seen served.
// expect: robust rc20=yes
// Why: ticket-lock.tpl, by the static engine.
#include <sched.h>

#include "guarded.h"

#ifndef SERVE
#define SERVE memory_order_release
#endif

static atomic_uint next, serving;

static unsigned lock(void) {
    unsigned ticket = atomic_fetch_add_explicit(&next, 1, memory_order_acq_rel);
    while (atomic_load_explicit(&serving, memory_order_acquire) != ticket) sched_yield();
    return ticket;
}

static void unlock(unsigned ticket) {
    atomic_store_explicit(&serving, ticket + 1, SERVE);
}

static void thread_body(int number) {
    (void)number;
    for (int i = 0; i < ROUNDS; i++) {
        unsigned ticket = lock();
        count_one();
        unlock(ticket);
    }
}

int main(void) {
    return count_with(THREADS);
}
