// Templates and lambdas: one place in the source for all instances.
//
// change: `slot.store(value` store seq_cst: order=release
// change: `slot.load()` load seq_cst: order=acquire before=seq_cst
// change: `pointer->fetch_add(1)` fetch seq_cst: order=relaxed
// change: `done.store(true)` store seq_cst: order=release after=seq_cst
// change: `this->head.load(` load acquire: order=relaxed after=acquire
// change: `last.exchange(head.load())` exchange seq_cst: order=acq_rel
// change: `slots[i].load(` load seq_cst: before=seq_cst
// by hand: `slot = value` store seq_cst: order=release: no such operation
// by hand: `first.store(last.load()` store seq_cst: before=release: other things happen
#include <atomic>
#include <vector>

template <class T>
struct Cell {
  std::atomic<T> slot{}, *pointer = nullptr;

  void put(T value) { slot.store(value, std::memory_order_release); }
  void again(T value) { slot = value; }
  T get() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return slot.load(std::memory_order_acquire);
  }
  T more() const { return pointer->fetch_add(1, std::memory_order_relaxed); }
};

struct List {
  std::atomic<int> head{0}, last{0}, first{0};
  std::vector<std::atomic<int>> slots = std::vector<std::atomic<int>>(4);

  int both(unsigned i) {
    int h = this->head.load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    h += last.exchange(head.load(), std::memory_order_acq_rel);
    first.store(last.load());
    std::atomic_thread_fence(std::memory_order_seq_cst);
    h += slots[i].load();
    return h;
  }
};

int all(std::atomic<bool> &done) {
  Cell<int> a;
  Cell<long> b;
  a.put(1), b.put(2), a.again(3);
  auto finish = [&] {
    done.store(true, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  };
  finish();
  List list;
  return a.get() + static_cast<int>(b.get()) + (a.pointer != nullptr ? a.more() : 0) + list.both(0);
}
