// The queue of ms-queue.cpp with release and acquire, as many libraries have it. That is enough for a queue,
// but not robust: two threads that each change one end and then look at the other can both see it as it was
// before.
// expect: robust rc20=no
// Why: store buffering on `head_` and `tail_`.
#define LOAD std::memory_order_acquire
#define UPDATE std::memory_order_acq_rel
#include "ms-queue.cpp"
