// The values of blocks.
//
// change: `++x` fetch seq_cst: order=relaxed
// by hand: `atomic_load_explicit(&x, memory_order_relaxed)` load relaxed: after=acquire: that of the block
#include <stdatomic.h>

static atomic_int x;

int all(void) {
  int r = ({ (atomic_fetch_add_explicit(&x, 1, memory_order_relaxed) + 1); });
  r += ({ atomic_load_explicit(&x, memory_order_relaxed); });
  return r;
}
