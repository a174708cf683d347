// Peterson's mutual exclusion with a fence in one place only, before the loop. The two stores of `turn` can
// then be taken in either order with regard to the flags.
// expect: robust rc20=no
// Why: peterson.tpl without its first fence, by the static engine.
#define FLAG_FENCE() ((void)0)
#include "peterson.c"
