// Operators and implicit loads become member functions where an order must be named.
//
// change: `x = 1` store seq_cst: order=release
// change: `++x` fetch seq_cst: order=relaxed
// change: `x++` fetch seq_cst: order=relaxed
// change: `x -= 2` fetch seq_cst: order=acq_rel
// change: `--x` fetch seq_cst: order=acq_rel
// change: `x; // plain` load seq_cst: order=acquire
// change: `*p; // pointer` load seq_cst: order=acquire
// change: `*p = 5` store seq_cst: order=relaxed
// change: `q->next = q` store seq_cst: order=release
// change: `x) sum` load seq_cst: order=relaxed
// change: `x == 7` load seq_cst: order=acquire
// change: `a[sum] = 3` store seq_cst: order=release
// change: `x |= 4` fetch seq_cst: order=seq_cst
// by hand: `x = 6` store seq_cst: order=release: value of this assignment is used
// by hand: `x += 3` fetch seq_cst: order=relaxed: value of this assignment is used
#include <atomic>

struct node {
  std::atomic<node *> next;
};
std::atomic<int> x, a[4];

int all(std::atomic<int> *p, node *q) {
  x.store(1, std::memory_order_release);
  x.fetch_add(1, std::memory_order_relaxed);
  int sum = x.fetch_add(1, std::memory_order_relaxed);
  x.fetch_sub(2, std::memory_order_acq_rel);
  sum += (x.fetch_sub(1, std::memory_order_acq_rel) - 1);
  sum += x.load(std::memory_order_acquire); // plain
  sum += p->load(std::memory_order_acquire); // pointer
  p->store(5, std::memory_order_relaxed);
  q->next.store(q, std::memory_order_release);
  if (x.load(std::memory_order_relaxed)) sum++;
  while (x.load(std::memory_order_acquire) == 7) sum++;
  a[sum].store(3, std::memory_order_release);
  x |= 4;
  sum = x = 6;
  return sum + (x += 3);
}
