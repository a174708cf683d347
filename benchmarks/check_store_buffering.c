// Store buffering, 15,000 times: the choices change nothing (benchmarks/check.py).
#include <fencepost.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x, y;
int a, b;
static void* one(void* _) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    a = atomic_load_explicit(&y, memory_order_relaxed);
    return _;
}
static void* two(void* _) {
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    b = atomic_load_explicit(&x, memory_order_relaxed);
    return _;
}
int main(void) {
    fp_choose(100);
    fp_choose(50);
    pthread_t p, q;
    pthread_create(&p, 0, one, 0);
    pthread_create(&q, 0, two, 0);
    pthread_join(p, 0);
    pthread_join(q, 0);
    return 0;
}
