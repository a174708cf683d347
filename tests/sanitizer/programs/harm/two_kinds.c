// One finding breaks the assertion, the other does nothing: what both threads looked at is not used.
// harm: left none, payload shown, ready none, right none
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int payload, ready, left, right;

static void *producer(void *arg) {
    atomic_store_explicit(&payload, 42, memory_order_relaxed);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    atomic_store_explicit(&left, 1, memory_order_relaxed);
    (void)atomic_load_explicit(&right, memory_order_relaxed);
    return arg;
}

static void *consumer(void *arg) {
    atomic_store_explicit(&right, 1, memory_order_relaxed);
    (void)atomic_load_explicit(&left, memory_order_relaxed);
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
