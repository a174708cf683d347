// C11: generic functions, operators on _Atomic variables, builtins.
//
// change: `atomic_store(&x, 1)` store seq_cst: order=release
// change: `atomic_load(&head)` load seq_cst: order=acquire
// change: `atomic_load_explicit(&x, memory_order_relaxed)` load relaxed: order=acquire
// change: `atomic_fetch_add(` fetch seq_cst: order=relaxed
// change: `atomic_exchange_explicit(` exchange acquire: order=acq_rel
// change: `atomic_compare_exchange_strong(` compare_exchange seq_cst seq_cst: order=acq_rel failure=acquire
// change: `atomic_compare_exchange_weak_explicit(` compare_exchange acq_rel relaxed: order=release failure=acquire
// change: `atomic_flag_test_and_set(` exchange seq_cst: order=acquire
// change: `atomic_flag_clear_explicit(` store release: order=seq_cst
// change: `x = 2` store seq_cst: order=release
// change: `x++` fetch seq_cst: order=relaxed
// change: `y += 3` fetch seq_cst: order=relaxed
// change: `x; /* read` load seq_cst: order=acquire
// change: `*p = 4` store seq_cst: order=relaxed
// change: `y - 1` load seq_cst: order=relaxed
// change: `__atomic_store_n(` store release: order=seq_cst
// change: `__atomic_load_n(` load seq_cst: order=acquire
// change: `__atomic_compare_exchange_n(` compare_exchange acq_rel acquire: failure=relaxed
// change: `atomic_thread_fence(memory_order_seq_cst)` fence seq_cst: order=release
// change: `__sync_synchronize()` fence seq_cst: order=acq_rel
// by hand: `atomic_compare_exchange_strong_explicit(` compare_exchange seq_cst seq_cst: order=relaxed: not allow it while
// by hand: `next++` fetch seq_cst: order=relaxed: no generic function for this type
// by hand: `d += 1` fetch seq_cst: order=relaxed: no generic function
#include <stdatomic.h>

struct node {
  struct node *next;
  int value;
};
struct node *_Atomic head;
atomic_int x;
_Atomic long y;
atomic_flag flag;
int *_Atomic next;
_Atomic double d;

long all(_Atomic int *p) {
  atomic_store(&x, 1);
  long sum = atomic_load(&head)->value;
  sum += atomic_load_explicit(&x, memory_order_relaxed) + atomic_fetch_add(&x, 1);
  sum += atomic_exchange_explicit(&x, 2, memory_order_acquire);
  int e = 0;
  if (!atomic_compare_exchange_strong(&x, &e, 1)) sum++;
  while (!atomic_compare_exchange_weak_explicit(&x, &e, 1, memory_order_acq_rel, memory_order_relaxed)) {
  }
  sum += atomic_flag_test_and_set(&flag);
  atomic_flag_clear_explicit(&flag, memory_order_release);
  x = 2;
  sum += x++;
  y += 3;
  sum += x; /* read */
  *p = 4;
  sum += y - 1;
  int z = 0;
  __atomic_store_n(&z, 1, __ATOMIC_RELEASE);
  sum += __atomic_load_n(&z, __ATOMIC_SEQ_CST);
  sum += __atomic_compare_exchange_n(&z, &e, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  atomic_thread_fence(memory_order_seq_cst);
  __sync_synchronize();
  sum += atomic_compare_exchange_strong_explicit(&x, &e, 1, memory_order_seq_cst, memory_order_seq_cst);
  next++;
  d += 1;
  return sum;
}
