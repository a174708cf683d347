// A ring for one producer and one consumer (Lamport, 1977), all seq_cst.
#include "two.h"

static int cells[1];
static atomic_int written, taken;

static void* producer(void* nothing) {
    for (int i = 0; i < 2; i++) {
        while (i - atomic_load(&taken) == 1);
        cells[0] = i;
        atomic_store(&written, i + 1);
    }
    return nothing;
}

static void* consumer(void* nothing) {
    (void)nothing;
    int sum = 0;
    for (int i = 0; i < 2; i++) {
        while (atomic_load(&written) == i);
        sum += cells[0];
        atomic_store(&taken, i + 1);
    }
    return RESULT(sum);
}

int main(void) {
    RUN(producer, consumer);
}
