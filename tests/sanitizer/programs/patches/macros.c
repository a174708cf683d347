// A macro changes if all its uses do; what is in its arguments changes where it is used.
//
// change: `READ(&x);` load seq_cst: order=acquire
// change: `READ(&y);` load seq_cst: order=acquire
// change: `WRITE(&x, 1)` store release: order=seq_cst
// change: `TWICE(atomic_load(&x))` load seq_cst: order=relaxed
// change: `FENCE();` fence seq_cst: order=acq_rel
// change: `SET(x)` exchange seq_cst: order=acquire
// change: `GONE();` fence acquire: remove
// change: `assert(atomic_load_explicit(&y` load relaxed: before=seq_cst
// by hand: `ADD(&x, 1)` fetch seq_cst: order=relaxed: also used in
// by hand: `PAIR(x), PAIR(y)` load seq_cst: order=relaxed: also used in
// by hand: `BOTH(&x)` load seq_cst: order=relaxed: several operations on this line can be meant
// by hand: `BUMP(&x)` fetch seq_cst: before=seq_cst: it is in a macro
#include <assert.h>
#include <stdatomic.h>

#define READ(p) atomic_load(p)
#define ORDER memory_order_release
#define WRITE(p, v) \
  atomic_store_explicit(p, v, ORDER)
#define TWICE(e) ((e) * 2)
#define FENCE() atomic_thread_fence(memory_order_seq_cst)
#define INNER(v) atomic_exchange(&v, 1)
#define SET(v) INNER(v)
#define GONE() atomic_thread_fence(memory_order_acquire)
#define ADD(p, v) atomic_fetch_add(p, v)
#define BOTH(p) (atomic_load(p) + atomic_load(p))
#define BUMP(p) atomic_fetch_add(p, 1)
#define PAIR(v) (void)atomic_load(&v)

static atomic_int x, y;

int all(void) {
  int sum = READ(&x);
  sum += READ(&y);
  WRITE(&x, 1);
  sum += TWICE(atomic_load(&x));
  FENCE();
  sum += SET(x);
  GONE();
  assert(atomic_load_explicit(&y, memory_order_relaxed) == 0);
  sum += ADD(&x, 1);
  sum += ADD(&y, 1);
  sum += BOTH(&x);
  BUMP(&x);
  PAIR(x), PAIR(y);
  return sum;
}
