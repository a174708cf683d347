// The work-stealing deque of Chase and Lev (2005), without growing, all seq_cst. The owner puts a task in and
// takes one out, while a thief tries to steal one.
#include "two.h"

static atomic_long top, bottom;
static atomic_int tasks[2];

static void put(int task) {
    long b = atomic_load(&bottom);
    atomic_store(&tasks[b % 2], task);
    atomic_store(&bottom, b + 1);
}

static int take(void) {
    long b = atomic_load(&bottom) - 1;
    atomic_store(&bottom, b);
    long t = atomic_load(&top);
    if (t > b) {
        atomic_store(&bottom, b + 1);
        return 0;
    }
    int task = atomic_load(&tasks[b % 2]);
    if (t < b) return task;
    if (!atomic_compare_exchange_strong(&top, &t, t + 1)) task = 0;
    atomic_store(&bottom, b + 1);
    return task;
}

static int steal(void) {
    long t = atomic_load(&top);
    long b = atomic_load(&bottom);
    if (t >= b) return 0;
    int task = atomic_load(&tasks[t % 2]);
    return atomic_compare_exchange_strong(&top, &t, t + 1) ? task : 0;
}

static void* owner(void* nothing) {
    put(1);
    put(2);
    take();
    take();
    return nothing;
}

static void* thief(void* nothing) {
    steal();
    steal();
    return nothing;
}

int main(void) {
    RUN(owner, thief);
}
