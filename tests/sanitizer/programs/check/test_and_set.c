// The two orders in which the lock can be taken.
// summary: robust: all 2 executions seen
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
static void* one(void*);
static void* two(void*);
atomic_int lock;
static void* one(void* _) {
    while (atomic_exchange_explicit(&lock, 1, memory_order_acquire)) {
    }
    atomic_store_explicit(&lock, 0, memory_order_release);
    return _;
}
static void* two(void* _) {
    return one(_);
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, one, NULL);
    pthread_create(&b, NULL, two, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
