// Under sequential consistency one of the exchanges succeeds. One that fails is a load, which may read an old
// value.
// harm: x shown, y shown
// why: was killed by SIGABRT
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int x, y;

static int exchange(atomic_int *at) {
    int expected = 1;
    return atomic_compare_exchange_strong_explicit(at, &expected, 2, memory_order_relaxed,
                                                   memory_order_relaxed);
}

static void *one(void *arg) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    return exchange(&y) ? arg : NULL;
}

static void *two(void *arg) {
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    return exchange(&x) ? arg : NULL;
}

int main(void) {
    pthread_t threads[2];
    void *results[2];
    pthread_create(&threads[0], 0, one, &x);
    pthread_create(&threads[1], 0, two, &y);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], &results[i]);
    if (results[0] == NULL && results[1] == NULL) abort();
}
