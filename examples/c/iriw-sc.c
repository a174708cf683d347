// Independent reads of independent writes as in iriw-acq-sc.c, with seq_cst first loads too: the readers see
// the stores in one order.
// expect: robust cpp20=yes
// Why: the definition of cpp20 (models/cpp20.py): S orders all six accesses.
#define FIRST memory_order_seq_cst
#include "iriw-acq-sc.c"
