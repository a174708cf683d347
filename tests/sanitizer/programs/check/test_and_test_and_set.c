// The second thread sees the lock free before the first takes it, or after it gave it back; a round that finds it
// taken after that is no more than waiting. A race that turned out to be none, because the loop waits, once hid
// the others.
// summary: robust: all 4 executions seen
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
static void* one(void*);
static void* two(void*);
atomic_int lock;
static void* one(void* _) {
    do {
        while (atomic_load_explicit(&lock, memory_order_relaxed)) {
        }
    } while (atomic_exchange_explicit(&lock, 1, memory_order_acquire));
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
