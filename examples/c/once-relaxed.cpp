// The double-checked initialisation of once.cpp with a relaxed flag: a thread that finds the flag set
// need not find the value.
// expect: robust rc20=no
// Why: once.tpl with that store, by the static engine: message passing over a relaxed store.
#define PUBLISH std::memory_order_relaxed
#include "once.cpp"
