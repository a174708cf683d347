// Whoever comes second wakes the main thread. In weak executions both may believe to be first.
// harm: left shown, right shown
// why: deadlock
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static atomic_int left, right;
static sem_t done;

static void *one(void *arg) {
    atomic_store_explicit(&left, 1, memory_order_relaxed);
    if (atomic_load_explicit(&right, memory_order_relaxed)) sem_post(&done);
    return arg;
}

static void *two(void *arg) {
    atomic_store_explicit(&right, 1, memory_order_relaxed);
    if (atomic_load_explicit(&left, memory_order_relaxed)) sem_post(&done);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    sem_init(&done, 0, 0);
    pthread_create(&threads[0], 0, one, 0);
    pthread_create(&threads[1], 0, two, 0);
    sem_wait(&done);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
}
