// The bounded queue of mpmc-ring.cpp with seq_cst accesses.
// expect: robust rc20=yes
// Why: all accesses are seq_cst; see ms-queue.cpp.
#define CLAIM std::memory_order_seq_cst
#define LOOK std::memory_order_seq_cst
#define TURN_LOAD std::memory_order_seq_cst
#define TURN_STORE std::memory_order_seq_cst
#include "mpmc-ring.cpp"
