// Tests with fp_test of <fencepost.h>: `fencepost check` runs each on its own, in all its executions.
#include <fencepost.h>
#include <stdatomic.h>

static atomic_int flag[2], entered;

// A thread enters if it does not see the other's flag. So at most one does, unless both loads miss a store.
static void try_to_enter(int me, memory_order store, memory_order load) {
    atomic_store_explicit(&flag[me], 1, store);
    if (!atomic_load_explicit(&flag[1 - me], load)) atomic_fetch_add(&entered, 1);
}

static void leave_all(void) {
    flag[0] = flag[1] = entered = 0;
}

fp_test(release_acquire) {
    fp_setup { leave_all(); }
    fp_threads(2, me) { try_to_enter(me, memory_order_release, memory_order_acquire); }
    fp_check { fp_assert(entered <= 1); }
}

fp_test(seq_cst) {
    fp_setup { leave_all(); }
    fp_threads(2, me) { try_to_enter(me, memory_order_seq_cst, memory_order_seq_cst); }
    fp_check { fp_assert(entered <= 1); }
}

static atomic_int ready;
static int payload, received;

fp_test(publication) {
    fp_setup { ready = payload = received = 0; }
    fp_thread {
        payload = 42;
        atomic_store_explicit(&ready, 1, memory_order_release);
    }
    fp_thread {
        fp_wait(&ready, 1, memory_order_acquire);
        received = payload;
    }
    fp_check { fp_assert(received == 42); }
}
