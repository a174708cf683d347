// Without <stdatomic.h>.
//
// change: `x = 1` store seq_cst: before=seq_cst
#include <stddef.h>

static _Atomic int x;

int all(void) {
  x = 1;
  return 0;
}
