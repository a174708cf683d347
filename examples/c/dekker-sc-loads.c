// Dekker's mutual exclusion "repaired" in one half: the looks are seq_cst, the flags are raised by release
// stores. Nothing orders such a store before the look behind it, and both threads can enter.
// expect: robust cpp20=no
// Why: store buffering on the flags, as in sb-rel-sc.c.
#define FLAG_FENCE() ((void)0)
#define RAISE memory_order_release
#define LOOK memory_order_seq_cst
#define AGAIN memory_order_release
#include "dekker.c"
