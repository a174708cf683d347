// The bakery without the fences of bakery.c: two threads can draw without seeing each other, and both enter.
// expect: robust rc20=no
// Why: bakery.tpl without its fences, by the static engine: store buffering on `choosing` and `number`.
#define DRAW_FENCE() ((void)0)
#include "bakery.c"
