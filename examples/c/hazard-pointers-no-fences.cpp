// The hazard pointers of hazard-pointers.cpp without fences: the announcement and the second look can change
// places, and a node is reused while it is in use.
// expect: robust rc20=no
// Why: hazard-pointers.tpl without its fences, by the static engine.
#define ANNOUNCE_FENCE() ((void)0)
#include "hazard-pointers.cpp"
