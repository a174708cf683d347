// A lock with exponential back-off up to 16 pauses: the loop waits once the number does not grow any more.
// Before that, each round counts.
// summary: robust: all 
#include <fencepost.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int lock;
static void* one(void* _) {
    for (int pauses = 1; atomic_exchange_explicit(&lock, 1, memory_order_acquire);) {
        for (int i = 0; i < pauses; ++i) fp_pause();
        if (pauses < 16) pauses *= 2;
    }
    atomic_store_explicit(&lock, 0, memory_order_release);
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
