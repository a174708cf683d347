// The annotations that are operations, and orders that are macros.
//
// change: `fp_wait(&x, 1, LOOK)` load acquire: order=seq_cst
// change: `fp_wait(&x, 2, memory_order_relaxed)` load relaxed: order=acquire before=seq_cst
// change: `fp_wait_any(&x, memory_order_relaxed` load relaxed: order=acquire
// change: `fp_bcas(&x, 2, 3` compare_exchange acquire acquire: order=acq_rel
// change: `atomic_store_explicit(&x, 4, RAISE)` store release: order=seq_cst
// options: -isystem {fencepost}
#include <fencepost.h>
#include <stdatomic.h>

#ifndef LOOK
#define LOOK memory_order_acquire
#endif
#define RAISE memory_order_release

static atomic_int x;

int all(void) {
  fp_wait(&x, 1, LOOK);
  fp_wait(&x, 2, memory_order_relaxed);
  fp_wait_any(&x, memory_order_relaxed, 2, 3);
  fp_bcas(&x, 2, 3, memory_order_acquire);
  atomic_store_explicit(&x, 4, RAISE);
  return 0;
}
