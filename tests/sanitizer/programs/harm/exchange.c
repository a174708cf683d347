// The read-modify-writes can come too early, which weak executions do not try.
// harm: x unknown, y unknown
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;

static void *one(void *arg) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&y, 2, memory_order_relaxed);
    return arg;
}

static void *two(void *arg) {
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&x, 2, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, one, 0);
    pthread_create(&threads[1], 0, two, 0);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
}
