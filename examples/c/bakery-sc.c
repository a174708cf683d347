// The bakery with seq_cst accesses in place of the fences of bakery.c.
// expect: robust cpp20=yes
// Why: all accesses of the lock before it is held are seq_cst, so S orders them as the algorithm wants.
#define DRAW_FENCE() ((void)0)
#define STORE memory_order_seq_cst
#define LAST_STORE memory_order_seq_cst
#define LOOK memory_order_seq_cst
#define LOAD memory_order_seq_cst
#include "bakery.c"
