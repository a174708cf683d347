// Dekker's mutual exclusion with seq_cst flags in place of the fences of dekker.c.
// expect: robust cpp20=yes
// Why: the rules of cpp20, which the library follows: a flag that is up and the look at the other one are both
// seq_cst, so one of the two looks comes last in S and sees the flag.
#define FLAG_FENCE() ((void)0)
#define RAISE memory_order_seq_cst
#define LOOK memory_order_seq_cst
#define AGAIN memory_order_seq_cst
#include "dekker.c"
