// Vyukov's bounded queue for many producers and many consumers (2010), all seq_cst. Who finds it full, or
// empty, goes on without.
#include "two.h"

enum { SIZE = 2 };
static struct {
    atomic_int sequence;
    int value;
} cells[SIZE];
static atomic_int to_write, to_take;

static int enqueue(int value) {
    int at = atomic_load(&to_write);
    for (;;) {
        int ahead = atomic_load(&cells[at % SIZE].sequence) - at;
        if (ahead < 0) return 0;
        if (ahead > 0) {
            at = atomic_load(&to_write);
        } else if (atomic_compare_exchange_strong(&to_write, &at, at + 1)) {
            cells[at % SIZE].value = value;
            atomic_store(&cells[at % SIZE].sequence, at + 1);
            return 1;
        }
    }
}

static int dequeue(int* value) {
    int at = atomic_load(&to_take);
    for (;;) {
        int ahead = atomic_load(&cells[at % SIZE].sequence) - (at + 1);
        if (ahead < 0) return 0;
        if (ahead > 0) {
            at = atomic_load(&to_take);
        } else if (atomic_compare_exchange_strong(&to_take, &at, at + 1)) {
            *value = cells[at % SIZE].value;
            atomic_store(&cells[at % SIZE].sequence, at + SIZE);
            return 1;
        }
    }
}

static void* first(void* nothing) {
    int value = 0;
    (void)nothing;
    enqueue(1);
    dequeue(&value);
    return RESULT(value);
}

static void* second(void* nothing) {
    int value = 0;
    (void)nothing;
    enqueue(2);
    dequeue(&value);
    return RESULT(value);
}

int main(void) {
    atomic_store(&cells[1].sequence, 1);
    RUN(first, second);
}
