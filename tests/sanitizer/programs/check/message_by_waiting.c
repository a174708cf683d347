// However often the loop goes round, the executions are one.
// summary: robust: the only execution seen
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
static void* one(void*);
static void* two(void*);
atomic_int x, ready;
static void* one(void* _) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store_explicit(&ready, 1, memory_order_release);
    return _;
}
static void* two(void* _) {
    while (!atomic_load_explicit(&ready, memory_order_acquire)) {
    }
    (void)atomic_load_explicit(&x, memory_order_relaxed);
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
