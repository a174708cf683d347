// A spin lock whose unlock is relaxed: what it protects is not protected. Mode atomics does not watch the counter.
// atomics: nothing seen
// races: data race
// repair: `memory_order_release` for the operation at spin_lock.c:17
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int held;
static int counter;

static void lock(void) {
    while (atomic_exchange_explicit(&held, 1, memory_order_acquire)) {}
}

static void unlock(void) {
    atomic_store_explicit(&held, 0, memory_order_relaxed);
}

static void *work(void *unused) {
    for (int i = 0; i < 200; ++i) {
        lock();
        ++counter;
        unlock();
    }
    return unused;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, work, NULL);
    work(NULL);
    pthread_join(other, NULL);
    printf("%d\n", counter);
}
