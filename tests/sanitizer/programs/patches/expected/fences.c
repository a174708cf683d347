// Fences as statements on their own line, with the indentation of the file.
//
// change: `atomic_store_explicit(&x, 1,` store relaxed: before=release
// change: `atomic_store_explicit(&x, 2,` store relaxed: after=seq_cst
// change: `atomic_store_explicit(&x, 3,` store relaxed: before=release after=seq_cst
// change: `atomic_store_explicit(&x, 4,` store relaxed: before=release
// change: `atomic_store_explicit(&x, 5,` store relaxed: after=seq_cst
// change: `atomic_store_explicit(&x, 6,` store relaxed: before=seq_cst
// change: `atomic_store_explicit(&x, 7,` store relaxed: after=seq_cst
// change: `atomic_store_explicit(&x, 8,` store relaxed: before=seq_cst after=seq_cst
// change: `atomic_load_explicit(&x, memory_order_acquire)` load acquire: before=seq_cst
// change: `atomic_load_explicit(&y, memory_order_relaxed) == 1` load relaxed: before=seq_cst
// change: `atomic_load_explicit(&y, memory_order_relaxed) == 2` load relaxed: after=acquire
// change: `atomic_load_explicit(&y, memory_order_relaxed) == 3` load relaxed: after=acquire
// change: `atomic_load_explicit(&y, memory_order_relaxed) == 4` load relaxed: before=seq_cst
// change: `atomic_load_explicit(&y, memory_order_relaxed); /* declared` load relaxed: after=acquire
// change: `atomic_load_explicit(&y, memory_order_relaxed) + 1;` load relaxed: before=seq_cst
// change: `atomic_load_explicit(&y, memory_order_relaxed) > 5` load relaxed: before=seq_cst
// change: `atomic_load_explicit(&y, memory_order_relaxed) + 6` load relaxed: after=acquire
// change: `atomic_store_explicit(&y, 9,` store relaxed: before=release
// change: `atomic_thread_fence(memory_order_acq_rel); /* gone` fence acq_rel: remove
// change: `atomic_thread_fence(memory_order_acquire);` fence acquire: remove
// change: `atomic_thread_fence(memory_order_release);` fence release: remove
// by hand: `atomic_load_explicit(&y, memory_order_relaxed) + 10` load relaxed: after=acquire: ends the function
// by hand: `atomic_store_explicit(&y, f(),` store relaxed: before=release: other things happen
#include <stdatomic.h>

static atomic_int x, y;
static int f(void) { return 1; }

static void one_line(void) {
  atomic_thread_fence(memory_order_release);
  atomic_store_explicit(&x, 4, memory_order_relaxed);
}
static void other(void) {
  atomic_store_explicit(&x, 5, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
}

int all(int c) {
  one_line(), other();
  atomic_thread_fence(memory_order_release);
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  atomic_store_explicit(&x, 2, memory_order_relaxed);  // two
  atomic_thread_fence(memory_order_seq_cst);
  c++;
  atomic_thread_fence(memory_order_release);
  atomic_store_explicit(&x, 3, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
  c++;
  if (c) {
    atomic_thread_fence(memory_order_seq_cst);
    atomic_store_explicit(&x, 6, memory_order_relaxed);
  }
  if (c) {
    atomic_store_explicit(&x, 7, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
  } else {
    atomic_thread_fence(memory_order_seq_cst);
    atomic_store_explicit(&x, 8, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
  }
  atomic_thread_fence(memory_order_seq_cst);
  c += atomic_load_explicit(&x, memory_order_acquire);
  atomic_thread_fence(memory_order_seq_cst);
  if (atomic_load_explicit(&y, memory_order_relaxed) == 1) c++;
  if (atomic_load_explicit(&y, memory_order_relaxed) == 2) {
    atomic_thread_fence(memory_order_acquire);
    c++;
  } else {
    atomic_thread_fence(memory_order_acquire);
  }
  while (atomic_load_explicit(&y, memory_order_relaxed) == 3) {
    atomic_thread_fence(memory_order_acquire);
  }
  atomic_thread_fence(memory_order_acquire);
  while ((atomic_thread_fence(memory_order_seq_cst), atomic_load_explicit(&y, memory_order_relaxed)) == 4) {
  }
  int v = atomic_load_explicit(&y, memory_order_relaxed); /* declared */
  atomic_thread_fence(memory_order_acquire);
  atomic_thread_fence(memory_order_seq_cst);
  v += atomic_load_explicit(&y, memory_order_relaxed) + 1;
  if (v && (atomic_thread_fence(memory_order_seq_cst), atomic_load_explicit(&y, memory_order_relaxed)) > 5) c++;
  v = atomic_load_explicit(&y, memory_order_relaxed) + 6;
  atomic_thread_fence(memory_order_acquire);
  switch (v) {
    case 1:
      atomic_thread_fence(memory_order_release);
      atomic_store_explicit(&y, 9, memory_order_relaxed);
      break;
    default: ;
  }
  /* gone */
  atomic_store_explicit(&y, f(), memory_order_relaxed);
  return atomic_load_explicit(&y, memory_order_relaxed) + 10;
}
