// The sequence lock with fences (Boehm 2012): data is relaxed, the writer has a release fence after it made
// the number odd, the reader an acquire fence before it reads the number again. Right, but not robust: a
// reader can see the later of two writes in one place and the older in the other, which no interleaving
// shows; it finds the number changed and drops both.
// expect: robust rc20=no
// Why: examples/rc20/seqlock-fences-two-writes.tpl, by the static engine.
#define DATA_STORE memory_order_relaxed
#define DATA_LOAD memory_order_relaxed
#define WRITER_FENCE() atomic_thread_fence(memory_order_release)
#define READER_FENCE() atomic_thread_fence(memory_order_acquire)
#define LAST_LOAD memory_order_relaxed
#include "seqlock.c"
