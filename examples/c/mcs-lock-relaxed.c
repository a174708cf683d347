// The queue lock of mcs-lock.c that wakes the next in line with a relaxed store: that one need not see what
// was done under the lock.
// expect: robust rc20=no
// Why: mcs-lock.tpl with that store, by the static engine: message passing over a relaxed store.
#define HAND_OVER memory_order_relaxed
#include "mcs-lock.c"
