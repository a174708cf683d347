// Independent reads of independent writes: two threads store, two others load both locations, in opposite
// orders. All are seq_cst but the first load of each reader, which acquires. C++20 then lets the readers see
// the stores in different orders.
// expect: robust cpp20=no
// Why: the definition of cpp20 (models/cpp20.py): an acquire load of a seq_cst store puts the store before the
// reader's next access by happens-before, but that is no order in S.
#include "threads.h"

#include <stdatomic.h>

#ifndef FIRST
#define FIRST memory_order_acquire
#endif

static atomic_int x[2];

static void thread_body(int number) {
    if (number < 2) {
        atomic_store(&x[number], 1);
    } else {
        (void)atomic_load_explicit(&x[number - 2], FIRST);
        (void)atomic_load(&x[3 - number]);
    }
}

int main(void) {
    run_threads(4);
    return 0;
}
