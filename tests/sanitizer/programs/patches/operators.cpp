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
  x = 1;
  ++x;
  int sum = x++;
  x -= 2;
  sum += --x;
  sum += x; // plain
  sum += *p; // pointer
  *p = 5;
  q->next = q;
  if (x) sum++;
  while (x == 7) sum++;
  a[sum] = 3;
  x |= 4;
  sum = x = 6;
  return sum + (x += 3);
}
