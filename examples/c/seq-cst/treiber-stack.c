// Treiber's stack (1986), all seq_cst. Nodes are not used again.
#include "two.h"

struct node {
    int value;
    struct node* next;
};

static _Atomic(struct node*) head;

static void push(struct node* node) {
    struct node* top;
    do node->next = top = atomic_load(&head);
    while (!atomic_compare_exchange_strong(&head, &top, node));
}

static struct node* pop(void) {
    for (;;) {
        struct node* top = atomic_load(&head);
        if (!top || atomic_compare_exchange_strong(&head, &top, top->next)) return top;
    }
}

static void* first(void* nothing) {
    static struct node mine = {1, NULL};
    push(&mine);
    struct node* node = pop();
    if (node) node->value++;
    return nothing;
}

static void* second(void* nothing) {
    static struct node mine = {2, NULL};
    push(&mine);
    struct node* node = pop();
    if (node) node->value++;
    return nothing;
}

int main(void) {
    RUN(first, second);
}
