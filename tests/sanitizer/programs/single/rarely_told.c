#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
static int before, between;
static atomic_int flag;
__attribute__((noinline)) static void fence(void) { atomic_thread_fence(memory_order_release); }
static void *tell(void *unused) {
    for (int i = 0; i < 500; i++) fence();
    before = 1;
    fence();
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    while (atomic_load_explicit(&flag, memory_order_relaxed) != 2) sched_yield();
    fence();
    between = 1;
    atomic_store_explicit(&flag, 3, memory_order_relaxed);
    return unused;
}
static void await(int value) {
    while (atomic_load_explicit(&flag, memory_order_relaxed) != value) sched_yield();
    atomic_thread_fence(memory_order_acquire);
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, tell, 0);
    await(1);
    before++;
    atomic_store_explicit(&flag, 2, memory_order_relaxed);
    await(3);
    between++;
    pthread_join(thread, 0);
    return 3;
}
