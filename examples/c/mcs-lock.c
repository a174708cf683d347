// The queue lock of Mellor-Crummey and Scott (Algorithms for scalable synchronization on shared-memory
// multiprocessors, 1991): each thread waits on a node of its own, and a thread that leaves wakes the next.
// expect: robust rc20=yes
// Why: mcs-lock.tpl, by the static engine.
#include <sched.h>
#include <stdbool.h>

#include "guarded.h"

#ifndef HAND_OVER
#define HAND_OVER memory_order_release
#endif

struct node {
    _Atomic(struct node*) next;
    atomic_bool blocked;
};

static _Atomic(struct node*) tail;

static void lock(struct node* me) {
    atomic_store_explicit(&me->next, NULL, memory_order_relaxed);
    struct node* before = atomic_exchange_explicit(&tail, me, memory_order_acq_rel);
    if (before == NULL) return;
    atomic_store_explicit(&me->blocked, true, memory_order_relaxed);
    atomic_store_explicit(&before->next, me, memory_order_release);
    while (atomic_load_explicit(&me->blocked, memory_order_acquire)) sched_yield();
}

static void unlock(struct node* me) {
    struct node* after = atomic_load_explicit(&me->next, memory_order_acquire);
    if (after == NULL) {
        struct node* last = me;
        if (atomic_compare_exchange_strong_explicit(&tail, &last, NULL, memory_order_acq_rel,
                                                    memory_order_acquire))
            return;
        // Somebody is in line and about to say so.
        while ((after = atomic_load_explicit(&me->next, memory_order_acquire)) == NULL) sched_yield();
    }
    atomic_store_explicit(&after->blocked, false, HAND_OVER);
}

static void thread_body(int number) {
    static struct node nodes[MOST_THREADS];
    for (int i = 0; i < ROUNDS; i++) {
        lock(&nodes[number]);
        count_one();
        unlock(&nodes[number]);
    }
}

int main(void) {
    return count_with(THREADS);
}
