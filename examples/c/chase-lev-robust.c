// The work-stealing deque of chase-lev.c with what makes it robust: `bottom` is always stored with release, a
// thief has another SC fence before it claims, and `push` has one before it looks at `top`. The last one came
// from a report of the sanitizer.
// expect: robust rc20=yes
// Why: chase-lev-robust.tpl, by the static engine, for a few operations.
#define BOTTOM_STORE memory_order_release
#define TOP_LOAD memory_order_acquire
#define ITEM_LOAD memory_order_acquire
#define PUSH_FENCE() atomic_thread_fence(memory_order_seq_cst)
#define STEAL_FENCE() atomic_thread_fence(memory_order_seq_cst)
#include "chase-lev.c"
