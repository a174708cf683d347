#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
static int data;
static atomic_int *flag;
static atomic_int has_read, is_free;
static void *tell(void *unused) {
    data = 1;
    atomic_store_explicit(flag, 1, memory_order_release);
    return unused;
}
static void *hear(void *unused) {
    while (!atomic_load_explicit(flag, memory_order_relaxed)) sched_yield();
    atomic_store_explicit(&has_read, 1, memory_order_release);
    while (!atomic_load_explicit(&is_free, memory_order_relaxed)) sched_yield();
    atomic_thread_fence(memory_order_acquire);
    return data++ == 1 ? unused : 0;
}
int main(void) {
    pthread_t threads[2];
    flag = calloc(1, sizeof *flag);
    pthread_create(&threads[0], 0, tell, 0);
    pthread_create(&threads[1], 0, hear, 0);
    while (!atomic_load_explicit(&has_read, memory_order_acquire)) sched_yield();
    pthread_join(threads[0], 0);
    free(flag);
    atomic_store_explicit(&is_free, 1, memory_order_relaxed);
    pthread_join(threads[1], 0);
    return 3;
}
