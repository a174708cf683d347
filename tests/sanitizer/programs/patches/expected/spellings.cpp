// The spelling of orders follows the file and the argument that is replaced.
//
// change: `a.store(1)` store seq_cst: order=release
// change: `a.load(std::memory_order::acquire)` load acquire: order=relaxed
// change: `a.load(order::acquire)` load acquire: order=relaxed
// change: `a.load(READS)` load acquire: order=relaxed
// change: `a.load((std::memory_order_acquire))` load acquire: order=seq_cst
// change: `std::atomic_thread_fence(std::memory_order::seq_cst)` fence seq_cst: order=acq_rel
// change: `r.store(2)` store seq_cst: order=release
// change: `r.fetch_sub(` fetch acquire: order=release
// options: -std=c++20
#include <atomic>

#define READS std::memory_order::acquire
using order = std::memory_order;

std::atomic<int> a, b;
int plain;

int all() {
  a.store(1, std::memory_order::release);
  int sum = a.load(std::memory_order::relaxed) + a.load(order::relaxed);
  sum += a.load(std::memory_order::relaxed);
  sum += a.load((std::memory_order_seq_cst));
  std::atomic_thread_fence(std::memory_order::acq_rel);
  std::atomic_ref<int> r(plain);
  r.store(2, std::memory_order::release);
  return sum + r.fetch_sub(1, std::memory_order::release) + b.load(READS);
}
