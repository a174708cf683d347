// A load comes after a relaxed store only by what happened long before, or by way of many threads. So the
// chain of accesses that says why is long, or begins far back.
//   ROUNDS     rounds of two other threads between the store and the load
//   RELAYS     threads by which the store is passed on
//   MEETING    threads that meet at a barrier in between
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#ifndef ROUNDS
#define ROUNDS 0
#endif
#ifndef RELAYS
#define RELAYS 1
#endif
#ifndef MEETING
#define MEETING 0
#endif

static atomic_int data, passed[RELAYS + 1], turn, sum;
static pthread_barrier_t barrier;

static void* write_first(void* unused) {
    atomic_store_explicit(&data, 1, memory_order_relaxed);
    atomic_store_explicit(&passed[0], 1, memory_order_relaxed);
    return unused;
}

static void* pass_on(void* number) {
    int const i = (int)(intptr_t)number;
    while (atomic_load_explicit(&passed[i], memory_order_relaxed) == 0);
    atomic_store_explicit(&passed[i + 1], 1, memory_order_relaxed);
    return NULL;
}

static void take_turns(int mine) {
    for (int i = 0; i < ROUNDS; ++i) {
        while (atomic_load_explicit(&turn, memory_order_acquire) != 2 * i + mine);
        atomic_store_explicit(&turn, 2 * i + mine + 1, memory_order_release);
    }
}

static void meet(void) {
    if (MEETING != 0) pthread_barrier_wait(&barrier);
}

static void* take_other_turns(void* unused) {
    take_turns(1);
    return unused;
}

static void* meet_others(void* unused) {
    for (int i = 0; i < 100; ++i) sched_yield();
    meet();
    return unused;
}

static void read_data(void) {
    int const value = atomic_load_explicit(&data, memory_order_relaxed);
    atomic_fetch_add_explicit(&sum, value, memory_order_relaxed);
}

static void* come_between(void* unused) {
    while (atomic_load_explicit(&passed[RELAYS], memory_order_relaxed) == 0);
    take_turns(0);
    meet();
    if (MEETING == 0) read_data();
    return unused;
}

static void* read_last(void* unused) {
    meet();
    if (MEETING != 0) read_data();
    return unused;
}

int main(void) {
    pthread_t threads[RELAYS + MEETING + 8];
    int count = 0;
    if (MEETING != 0) pthread_barrier_init(&barrier, NULL, MEETING);
    pthread_create(&threads[count++], NULL, read_last, NULL);
    pthread_create(&threads[count++], NULL, take_other_turns, NULL);
    pthread_create(&threads[count++], NULL, come_between, NULL);
    for (int i = 0; i < MEETING - 2; ++i) pthread_create(&threads[count++], NULL, meet_others, NULL);
    for (intptr_t i = 0; i < RELAYS; ++i) pthread_create(&threads[count++], NULL, pass_on, (void*)i);
    pthread_create(&threads[count++], NULL, write_first, NULL);
    while (count > 0) pthread_join(threads[--count], NULL);
    printf("%d\n", sum);
    return 0;
}
