// Without <stdatomic.h>: builtins for fences, and no generic function for an atomic variable.
//
// change: `__atomic_store_n(&x, 1,` store relaxed: before=release
// change: `__atomic_load_n(&x, 0)` load relaxed: order=acquire
// change: `__atomic_add_fetch(` fetch seq_cst: order=relaxed after=seq_cst
// by hand: `y = 1` store seq_cst: order=release: <stdatomic.h>
#include <stddef.h>

static int x;
static _Atomic int y;

int all(void)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&x, 1, __ATOMIC_RELAXED);
	int sum = __atomic_load_n(&x, __ATOMIC_ACQUIRE);
	sum = __atomic_add_fetch(&x, 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	y = 1;
	return sum;
}
