// The values of blocks.
//
// change: `++x` fetch seq_cst: order=relaxed
// by hand: `atomic_load_explicit(&x, memory_order_relaxed)` load relaxed: after=acquire: that of the block
#include <stdatomic.h>

static atomic_int x;

int all(void) {
  int r = ({ ++x; });
  r += ({ atomic_load_explicit(&x, memory_order_relaxed); });
  return r;
}
