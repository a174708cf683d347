// Loads that can miss a write, in a fixed order, and what becomes of the value.
//
// ranked: used branch
// ranked: waits flag
// ranked: compared top
// ranked: same written_again
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#define RELAXED memory_order_relaxed

static atomic_int branch, flag, late, top, written_again, other;
static volatile int turn, zero;
static int taken;

static void wait_for(int t) {
    while (turn != t) usleep(50);
}

static void *first(void *unused) {
    atomic_store_explicit(&branch, 1, RELAXED);
    atomic_store_explicit(&top, 1, RELAXED);
    atomic_store_explicit(&written_again, zero, RELAXED);
    for (int i = 0; i < 3; i++)
        atomic_store_explicit(&flag, 1 + i % 2, RELAXED);
    (void)atomic_load_explicit(&other, RELAXED);
    turn = 1;
    wait_for(2);
    usleep(5000);
    atomic_store_explicit(&late, 1, RELAXED);
    return unused;
}

static __attribute__((noinline)) void wait_until_set(atomic_int *from) {
    while (atomic_load_explicit(from, RELAXED) == 0) sched_yield();
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, first, NULL);
    pthread_detach(thread);
    wait_for(1);
    atomic_store_explicit(&other, 1, RELAXED);
    if (atomic_load_explicit(&branch, RELAXED) == 0) taken++;
    int seen = atomic_load_explicit(&top, RELAXED);
    atomic_compare_exchange_strong_explicit(&top, &seen, 7, RELAXED, RELAXED);
    (void)atomic_load_explicit(&written_again, RELAXED);
    wait_until_set(&flag);
    turn = 2;
    wait_until_set(&late);
    return taken;
}
