// A loop that gives up does not wait: one execution for each round that can see the write, and one for none.
// summary: 1 failure in 4 executions, all there are
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
static void* one(void*);
static void* two(void*);
atomic_int ready;
static void* one(void* _) {
    atomic_store_explicit(&ready, 1, memory_order_release);
    return _;
}
static void* two(void* _) {
    int round = 0;
    while (round < 3 && !atomic_load_explicit(&ready, memory_order_acquire)) ++round;
    assert(round < 3);
    return _;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, one, NULL);
    pthread_create(&b, NULL, two, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
