// The read-copy-update of rcu.c with a relaxed publication: readers can see a version before what is in it.
// expect: robust rc20=no
// Why: rcu.tpl with such stores, by the static engine: message passing over a relaxed store.
#define PUBLISH memory_order_relaxed
#include "rcu.c"
