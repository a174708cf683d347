// Exit code and output are the program's own.
//
// prints: 42
// exit code: 42
// schedules: os
#include "all.h"

atomic_int x;
int main(void) { atomic_fetch_add(&x, 41); printf("%d", x + 1); return 42; }
