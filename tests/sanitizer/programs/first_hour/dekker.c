// Dekker's entry protocol with release and acquire: both threads can enter.
// atomics: not robust
// races: not robust
// repair: `atomic_thread_fence(memory_order_seq_cst)` after dekker.c:14
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int wants[2], entered;

static void *enter(void *argument) {
    int me = argument != NULL;
    for (int i = 0; i < 100; ++i) {
        atomic_store_explicit(&wants[me], 1, memory_order_release);
        if (atomic_load_explicit(&wants[1 - me], memory_order_acquire) == 0)
            atomic_fetch_add_explicit(&entered, 1, memory_order_acq_rel);
        atomic_store_explicit(&wants[me], 0, memory_order_release);
    }
    return NULL;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, enter, &other);
    enter(NULL);
    pthread_join(other, NULL);
    printf("%d\n", atomic_load(&entered) > 0);
}
