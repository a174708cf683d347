// The store buffering of sb-sc-sc.c with relaxed stores; see sb-rel-sc.c.
// expect: robust cpp20=no
// Why: the definition of cpp20 (models/cpp20.py): S orders the loads only.
#define STORE memory_order_relaxed
#include "sb-sc-sc.c"
