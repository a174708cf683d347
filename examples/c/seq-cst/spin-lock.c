// A test-and-set lock, all seq_cst.
#include "two.h"

static atomic_int locked;
static int counter;

static void* enter(void* nothing) {
    while (atomic_exchange(&locked, 1));
    counter++;
    atomic_store(&locked, 0);
    return nothing;
}

int main(void) {
    RUN(enter, enter);
}
