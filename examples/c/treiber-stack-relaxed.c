// Treiber's stack with relaxed accesses only: a thread that finds a node need not find its content.
// expect: robust rc20=no
// Why: treiber-stack.tpl with relaxed accesses, by the static engine.
#define PUSH memory_order_relaxed
#define LOOK memory_order_relaxed
#include "treiber-stack.c"
