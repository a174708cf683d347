// A ticket lock (Mellor-Crummey and Scott, 1991), all seq_cst.
#include "two.h"

static atomic_int next, serving;
static int counter;

static void* enter(void* nothing) {
    int ticket = atomic_fetch_add(&next, 1);
    while (atomic_load(&serving) != ticket);
    counter++;
    atomic_store(&serving, ticket + 1);
    return nothing;
}

int main(void) {
    RUN(enter, enter);
}
