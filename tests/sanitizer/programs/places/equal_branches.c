// Store buffering where both threads do the same in either branch. Compilers like to merge such code, and then
// it has the line of one branch, or none.
//
// reported: 21 misses 32
// reported: 33 misses 20
// reported with an argument: 18 misses 28
// reported with an argument: 30 misses 17
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int x, y;
static volatile int sum;

static void *store_x_first(void *taken) {
    if (taken == NULL) {
        atomic_store_explicit(&x, 1, memory_order_relaxed);
        sum += atomic_load_explicit(&y, memory_order_relaxed);
    } else {
        atomic_store_explicit(&x, 1, memory_order_relaxed);
        sum += atomic_load_explicit(&y, memory_order_relaxed);
    }
    return taken;
}

static void *store_y_first(void *taken) {
    if (taken == NULL) {
        atomic_store_explicit(&y, 1, memory_order_relaxed);
        sum += 5;
        sum += atomic_load_explicit(&x, memory_order_relaxed);
    } else {
        atomic_store_explicit(&y, 1, memory_order_relaxed);
        sum += atomic_load_explicit(&x, memory_order_relaxed);
    }
    return taken;
}

int main(int argc, char **argv) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, store_x_first, argc > 1 ? NULL : argv);
    pthread_create(&threads[1], NULL, store_y_first, argc > 1 ? NULL : argv);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
