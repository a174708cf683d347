// What is easily done wrong: changes that meet, values that are used, bodies without braces.
//
// change: `x = y + 1` store seq_cst: order=release
// by hand: `y + 1;  // read` load seq_cst: order=acquire: another change is there
// change: `BOTH();` load acquire: order=seq_cst
// change: `TRY();` compare_exchange acq_rel relaxed: failure=acquire
// change: `x.load(std::memory_order_consume)` load acquire: order=seq_cst
// change: `== 5` load seq_cst: order=acquire before=seq_cst
// by hand: `x.load(std::memory_order_acquire) + other` load acquire: after=seq_cst: other things happen
// change: `std::atomic_thread_fence(std::memory_order_acquire)` fence acquire: remove
// by hand: `y.load(std::memory_order_relaxed) == 8` load relaxed: after=acquire: can be left in another way
// change: `y.load(std::memory_order_relaxed) + 9` load relaxed: before=acquire
// by hand: `y.store(10, std::memory_order_relaxed)` store relaxed: before=release: a comment stands before it
#include <atomic>

static std::atomic<int> x, y;
#define BOTH() (x.load(std::memory_order_relaxed) + y.load(std::memory_order_acquire))
#define TRY()                                                                                      \
  (x.compare_exchange_strong(e, 1, std::memory_order_acq_rel, std::memory_order_acquire) ||        \
   x.compare_exchange_strong(e, 2, std::memory_order_acq_rel, std::memory_order_relaxed))

int other();

int all(bool c) {
  int e = 0;
  x = y + 1;  // read
  int r = BOTH();
  r += TRY();
  r += x.load(std::memory_order_consume);
  while (x == 5) r = 5;
  r += x.load(std::memory_order_acquire) + other();
  if (c)
    std::atomic_thread_fence(std::memory_order_acquire);
  r += 7;
  while (y.load(std::memory_order_relaxed) == 8) {
    if (c) break;
  }
  r = c and y.load(std::memory_order_relaxed) + 9;
  if (c)
#ifdef NEVER
    r = 10;
#endif
    y.store(10, std::memory_order_relaxed);
  return r;
}
