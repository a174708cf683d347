// A sequence lock without the fences of seqlock-fences.c. The reader's last look at the number does not come
// after its data, so it can take half of a write for a whole one.
// expect: robust rc20=no
// Why: examples/rc20/seqlock-no-fences.tpl, by the static engine.
#define DATA_STORE memory_order_relaxed
#define DATA_LOAD memory_order_relaxed
#include "seqlock.c"
