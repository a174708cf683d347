// Treiber's stack (Systems programming: coping with parallelism, 1986): a list whose head is changed by
// compare-and-swap. No node is used twice, so that no address comes back.
// expect: robust rc20=yes
// Why: treiber-stack.tpl, by the static engine: three threads that push and pop once. More rounds add nothing
// new: links and values never change after their node is published, and all changes of `head` are
// acquire-release.
#include <stdatomic.h>

#include "threads.h"

#ifndef PUSH
#define PUSH memory_order_acq_rel
#define LOOK memory_order_acquire
#endif

struct node {
    _Atomic(struct node*) next;
    atomic_int value;
};

static _Atomic(struct node*) head;

static void push(struct node* node, int value) {
    atomic_store_explicit(&node->value, value, memory_order_relaxed);
    struct node* top = atomic_load_explicit(&head, LOOK);
    do {
        atomic_store_explicit(&node->next, top, memory_order_relaxed);
    } while (!atomic_compare_exchange_strong_explicit(&head, &top, node, PUSH, LOOK));
}

static int pop(void) {
    struct node* top = atomic_load_explicit(&head, LOOK);
    while (top != NULL) {
        struct node* next = atomic_load_explicit(&top->next, memory_order_relaxed);
        if (atomic_compare_exchange_strong_explicit(&head, &top, next, PUSH, LOOK))
            return atomic_load_explicit(&top->value, memory_order_relaxed);
    }
    return 0;
}

static void thread_body(int number) {
    static struct node nodes[THREADS][ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        push(&nodes[number][i], i + 1);
        check(pop() > 0, "who pushes first finds something to pop");
    }
}

int main(void) {
    run_threads(THREADS);
    check(atomic_load_explicit(&head, memory_order_relaxed) == NULL, "what was pushed was popped");
    return 0;
}
