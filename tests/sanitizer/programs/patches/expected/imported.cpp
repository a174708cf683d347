// With `using namespace std`, names without `std::` stay without it.
//
// change: `a.store(1)` store seq_cst: order=release
// change: `a.load(memory_order_acquire)` load acquire: order=relaxed
// change: `atomic_load(&a)` load seq_cst: order=acquire
// change: `atomic_store_explicit(` store relaxed: order=release before=seq_cst
#include <atomic>

using namespace std;

atomic<int> a;

int all() {
  a.store(1, memory_order_release);
  int sum = a.load(memory_order_relaxed) + atomic_load_explicit(&a, memory_order_acquire);
  atomic_thread_fence(memory_order_seq_cst);
  atomic_store_explicit(&a, 2, memory_order_release);
  return sum;
}
