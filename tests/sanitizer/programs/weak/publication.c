// Message passing without any order: the assertion holds in every interleaving, and fails in weak executions.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int payload, ready;

static void *producer(void *arg) {
    atomic_store_explicit(&payload, 42, memory_order_relaxed);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return arg;
}

static void *consumer(void *arg) {
    if (atomic_load_explicit(&ready, memory_order_relaxed))
        assert(atomic_load_explicit(&payload, memory_order_relaxed) == 42);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, producer, 0);
    pthread_create(&threads[1], 0, consumer, 0);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
}
