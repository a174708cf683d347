// The mutex of futex-mutex.c with a relaxed unlock.
// expect: robust rc20=no
// Why: futex-mutex.tpl with that exchange, by the static engine: message passing over a relaxed store.
#define UNLOCK memory_order_relaxed
#include "futex-mutex.c"
