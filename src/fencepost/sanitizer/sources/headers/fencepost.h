/* The annotations, with those that are atomic operations as functions; stdatomic.h beside this says why. */
#ifndef FENCEPOST_ANNOTATIONS_AS_FUNCTIONS
#define FENCEPOST_ANNOTATIONS_AS_FUNCTIONS

#include_next <fencepost.h>

#undef fp_wait
#undef fp_wait_any
#undef fp_bcas
int fp_wait();
int fp_wait_any();
void fp_bcas();

#endif
