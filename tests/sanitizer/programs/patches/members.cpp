// Orders of member functions: replaced, added, and both of a compare-exchange.
//
// change: `x.store(1)` store seq_cst: order=release
// change: `x.store(2, ` store relaxed: order=seq_cst
// change: `x.load()` load seq_cst: order=acquire
// change: `(*p).load(std` load relaxed: order=acquire
// change: `x.exchange(3)` exchange seq_cst: order=acq_rel
// change: `x.fetch_add(` fetch seq_cst: order=relaxed
// change: `x.compare_exchange_strong(e, 1)` compare_exchange seq_cst seq_cst: order=acq_rel failure=acquire
// change: `x.compare_exchange_strong(e, 2)` compare_exchange seq_cst seq_cst: order=acq_rel failure=relaxed
// change: `x.compare_exchange_strong(e, 3` compare_exchange acquire acquire: failure=relaxed
// change: `x.compare_exchange_strong(e, 4` compare_exchange acq_rel relaxed: order=release
// change: `x.compare_exchange_weak(e, 5` compare_exchange relaxed relaxed: failure=acquire
// change: `flag.test_and_set()` exchange seq_cst: order=acquire
// change: `flag.clear()` store seq_cst: order=release
// change: `.store(7` store seq_cst: order=relaxed
// change: `x.load(std::memory_order_acquire)` load acquire: order=acquire
// by hand: `x.load(order)` load acquire: order=relaxed: its order is not a constant
// by hand: `x.store(8` store release: order=acquire: do not allow this order
#include <atomic>

std::atomic<int> x;
std::atomic_flag flag = ATOMIC_FLAG_INIT;

int all(std::atomic<int> *p, std::memory_order order) {
  x.store(1);
  x.store(2, std::memory_order_relaxed);
  int sum = x.load() + (*p).load(std::memory_order_relaxed);
  sum += x.exchange(3);
  sum += x.fetch_add(
      4  // four
  );
  int e = 0;
  sum += x.compare_exchange_strong(e, 1);
  sum += x.compare_exchange_strong(e, 2);
  sum += x.compare_exchange_strong(e, 3, std::memory_order_acquire);
  sum += x.compare_exchange_strong(e, 4, std::memory_order_acq_rel, std::memory_order_relaxed);
  sum += x.compare_exchange_weak(e, 5, std::memory_order_relaxed);
  sum += flag.test_and_set();
  flag.clear();
  x
    .store(7);
  sum += x.load(std::memory_order_acquire);
  x.store(8, std::memory_order_release);
  return sum + x.load(order);
}
