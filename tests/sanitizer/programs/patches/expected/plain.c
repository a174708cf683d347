// Without <stdatomic.h>.
//
// change: `x = 1` store seq_cst: before=seq_cst
#include <stddef.h>

static _Atomic int x;

int all(void) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  x = 1;
  return 0;
}
