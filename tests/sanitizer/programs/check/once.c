// One or the other initialises.
// summary: robust: all 2 executions seen
#include <pthread.h>
#include <stdatomic.h>
pthread_once_t control = PTHREAD_ONCE_INIT;
atomic_int x;
static void initialise(void) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
}
static void* one(void* _) {
    pthread_once(&control, initialise);
    return _;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, one, NULL);
    pthread_create(&b, NULL, one, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
