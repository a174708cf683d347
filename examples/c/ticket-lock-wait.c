// A ticket lock with a relaxed draw, as it is usually written. A thread that has just drawn may look at an
// old `serving`, though another thread's draw would tell it better. That does no harm, since it only waits a
// little longer: no old value is the awaited one. fp_wait says so.
// expect: robust rc20=yes
// Why: ticket-lock-wait.tpl, by the static engine.
#include <fencepost.h>

#include "guarded.h"

static atomic_uint next, serving;

static unsigned lock(void) {
    unsigned ticket = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    return fp_wait(&serving, ticket, memory_order_acquire);
}

static void unlock(unsigned ticket) {
    atomic_store_explicit(&serving, ticket + 1, memory_order_release);
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
