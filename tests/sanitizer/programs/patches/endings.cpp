// A byte order mark, line ends of DOS, no line end at the end, letters beyond ASCII.
//
// change: `x.store(1)` store seq_cst: order=release after=seq_cst
// change: `x.load()` load seq_cst: order=acquire
// change: `x.exchange(3)` exchange seq_cst: order=relaxed
#include <atomic>

static std::atomic<int> x;

int all() {
	const char *s = "é😀"; x.store(1);
	return x.load() + (s != nullptr) /* é */ + x.exchange(3);
}