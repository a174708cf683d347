// Lamport's fast mutual exclusion with the fences of lamport-fast.c, for three threads, which they are too
// few for: a store of x can overwrite another thread's without knowing what that thread did before.
// expect: robust rc20=no
// Why: lamport-fast.tpl with a third thread, by the static engine.
#define THREADS 3
#include "lamport-fast.c"
