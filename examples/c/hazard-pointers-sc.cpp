// The hazard pointers of hazard-pointers.cpp with seq_cst accesses in place of the fences.
// expect: robust cpp20=yes
// Why: announcement and second look, and new node and look at the announcements, are seq_cst, so S orders them.
#define ANNOUNCE_FENCE() ((void)0)
#define STORE std::memory_order_seq_cst
#define LOAD std::memory_order_seq_cst
#include "hazard-pointers.cpp"
