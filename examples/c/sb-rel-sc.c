// The store buffering of sb-sc-sc.c with release stores: the loads are seq_cst, but the stores are not, so
// both loads can come before both stores in memory. x86 does that.
// expect: robust cpp20=no
// Why: the definition of cpp20 (models/cpp20.py): S orders the loads only.
#define STORE memory_order_release
#include "sb-sc-sc.c"
