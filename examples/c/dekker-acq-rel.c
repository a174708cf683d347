// Dekker's mutual exclusion without the fences of dekker.c: release and acquire do not keep a thread from
// looking at the other's flag before its own is up, and both can enter.
// expect: robust rc20=no
// Why: dekker.tpl without its fences, by the static engine: store buffering on the flags.
#define FLAG_FENCE() ((void)0)
#include "dekker.c"
