// The event counter of event-counter.cpp with release and acquire only: a giver and a taker can miss each
// other, and the taker sleeps though there is something to take.
// expect: robust rc20=no
// Why: store buffering on `items` and `waiters_`; examples/rc20/parking-no-fences.tpl, by the static engine.
#define LOAD std::memory_order_acquire
#define UPDATE std::memory_order_acq_rel
#include "event-counter.cpp"
