// The lock of spinlock.cpp with a relaxed unlock.
// expect: robust rc20=no
// Why: spinlock.tpl with that store, by the static engine: message passing over a relaxed store.
#define UNLOCK std::memory_order_relaxed
#include "spinlock.cpp"
