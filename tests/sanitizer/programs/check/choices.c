// Each thread chooses one of three values; two of the nine pairs fail, whichever thread stores last.
// summary: 1 failure in 18 executions, all there are
#include <assert.h>
#include <fencepost.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_uint x;
static void* one(void* _) {
    atomic_store_explicit(&x, 10 + fp_choose(3), memory_order_relaxed);
    return _;
}
static void* two(void* _) {
    atomic_store_explicit(&x, 20 + fp_choose(3), memory_order_relaxed);
    return _;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, one, NULL);
    pthread_create(&b, NULL, two, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(atomic_load_explicit(&x, memory_order_relaxed) != 21);
    return 0;
}
