// A wait for one of two places. Of the rounds only the last counts: it sees the first flag, or the second.
// summary: robust: all 2 executions seen
#include <pthread.h>
#include <stdatomic.h>
atomic_int x, y;
static void* one(void* _) {
    atomic_store_explicit(&x, 1, memory_order_release);
    return _;
}
static void* two(void* _) {
    atomic_store_explicit(&y, 1, memory_order_release);
    return _;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, one, NULL);
    pthread_create(&b, NULL, two, NULL);
    while (!atomic_load_explicit(&x, memory_order_acquire) && !atomic_load_explicit(&y, memory_order_acquire)) {
    }
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
