// The queue of Michael and Scott (1996), all seq_cst. Nodes are not used again.
#include "two.h"

struct node {
    int value;
    _Atomic(struct node*) next;
};

static struct node dummy;
static _Atomic(struct node*) head = &dummy, tail = &dummy;

static void enqueue(struct node* node) {
    for (;;) {
        struct node* last = atomic_load(&tail);
        struct node* next = atomic_load(&last->next);
        if (next) {
            atomic_compare_exchange_strong(&tail, &last, next);
            continue;
        }
        if (!atomic_compare_exchange_strong(&last->next, &next, node)) continue;
        atomic_compare_exchange_strong(&tail, &last, node);
        return;
    }
}

static int dequeue(int* value) {
    for (;;) {
        struct node* first = atomic_load(&head);
        struct node* last = atomic_load(&tail);
        struct node* next = atomic_load(&first->next);
        if (!next) return 0;
        if (first == last) {
            atomic_compare_exchange_strong(&tail, &last, next);
            continue;
        }
        *value = next->value;
        if (atomic_compare_exchange_strong(&head, &first, next)) return 1;
    }
}

static void* producer(void* nothing) {
    static struct node nodes[2];
    for (int i = 0; i < 2; i++) {
        nodes[i].value = i;
        enqueue(&nodes[i]);
    }
    return nothing;
}

static void* consumer(void* nothing) {
    (void)nothing;
    int value = 0;
    dequeue(&value);
    dequeue(&value);
    return RESULT(value);
}

int main(void) {
    RUN(producer, consumer);
}
