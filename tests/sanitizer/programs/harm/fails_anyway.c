// The program fails in weak executions, but not otherwise than without them.
// harm: x none, y none
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;
static int seen[2];

static void *one(void *arg) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    seen[0] = atomic_load_explicit(&y, memory_order_relaxed);
    return arg;
}

static void *two(void *arg) {
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    seen[1] = atomic_load_explicit(&x, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, one, 0);
    pthread_create(&threads[1], 0, two, 0);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
    return !seen[0];
}
