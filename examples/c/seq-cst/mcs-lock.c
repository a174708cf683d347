// The queue lock of Mellor-Crummey and Scott (1991), all seq_cst.
#include "two.h"

struct node {
    _Atomic(struct node*) next;
    atomic_int blocked;
};

static _Atomic(struct node*) tail;
static int counter;

static void* enter(void* nothing) {
    static struct node nodes[2];
    static atomic_int used;
    struct node* me = &nodes[atomic_fetch_add(&used, 1)];
    struct node* before = atomic_exchange(&tail, me);
    if (before) {
        atomic_store(&me->blocked, 1);
        atomic_store(&before->next, me);
        while (atomic_load(&me->blocked));
    }
    counter++;
    struct node* after = atomic_load(&me->next);
    struct node* expected = me;
    if (!after && atomic_compare_exchange_strong(&tail, &expected, NULL)) return nothing;
    while (!(after = atomic_load(&me->next)));
    atomic_store(&after->blocked, 0);
    return nothing;
}

int main(void) {
    RUN(enter, enter);
}
