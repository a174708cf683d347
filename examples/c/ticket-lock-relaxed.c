// The ticket lock of ticket-lock.c with a relaxed unlock: the next one inside need not see what this one did.
// expect: robust rc20=no
// Why: ticket-lock.tpl with that store, by the static engine: message passing over a relaxed store.
#define SERVE memory_order_relaxed
#include "ticket-lock.c"
