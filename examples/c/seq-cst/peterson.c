// Peterson's mutual exclusion (1981), all seq_cst.
#include "two.h"

static atomic_int flag[2], turn;
static int counter;

static void enter(int me) {
    int other = 1 - me;
    atomic_store(&flag[me], 1);
    atomic_store(&turn, other);
    while (atomic_load(&flag[other]) && atomic_load(&turn) == other);
    counter++;
    atomic_store(&flag[me], 0);
}

static void* left(void* nothing) {
    enter(0);
    return nothing;
}

static void* right(void* nothing) {
    enter(1);
    return nothing;
}

int main(void) {
    RUN(left, right);
}
