// A shared object that plug_in_host.c loads.
#include <stdatomic.h>
static atomic_int calls;
__attribute__((constructor)) static void loaded(void) { atomic_fetch_add(&calls, 1); }
int count(atomic_int* total) { atomic_fetch_add(total, 1); return atomic_fetch_add(&calls, 1); }
