// Store buffering: each of two threads stores to a location of its own and then loads the other's. Here all
// four accesses are seq_cst, so at least one thread sees the other's store.
// expect: robust cpp20=yes
// Why: the definition of cpp20 (models/cpp20.py): S orders all four, and each load reads from it.
#include "threads.h"

#include <stdatomic.h>

#ifndef STORE
#define STORE memory_order_seq_cst
#endif

static atomic_int x[2];

static void thread_body(int number) {
    atomic_store_explicit(&x[number], 1, STORE);
    (void)atomic_load_explicit(&x[1 - number], memory_order_seq_cst);
}

int main(void) {
    run_threads(2);
    return 0;
}
