// A wait that lets others run, and one that sleeps.
// summary: robust: all 
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>
atomic_int lock, ready;
static void* one(void* _) {
    while (atomic_exchange_explicit(&lock, 1, memory_order_acquire)) sched_yield();
    atomic_store_explicit(&ready, 1, memory_order_release);
    atomic_store_explicit(&lock, 0, memory_order_release);
    return _;
}
static void* two(void* _) {
    while (atomic_exchange_explicit(&lock, 1, memory_order_acquire)) sched_yield();
    atomic_store_explicit(&lock, 0, memory_order_release);
    while (!atomic_load_explicit(&ready, memory_order_acquire)) usleep(10);
    return _;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, one, NULL);
    pthread_create(&b, NULL, two, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
