// A ring with one producer and one consumer; release and acquire are where they belong. The findings are
// harmless: an old index makes a thread wait for another round.
// atomics: not robust
// races: nothing seen or not robust
// repair: put `atomic_thread_fence(memory_order_seq_cst)` after spsc_ring.c:
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { size = 4, items = 100 };
static int slots[size];
static atomic_uint head, tail;

static void *produce(void *unused) {
    for (unsigned i = 0; i < items; ++i) {
        while (i - atomic_load_explicit(&head, memory_order_acquire) == size) {}
        slots[i % size] = (int)i;
        atomic_store_explicit(&tail, i + 1, memory_order_release);
    }
    return unused;
}

int main(void) {
    pthread_t producer;
    pthread_create(&producer, NULL, produce, NULL);
    int sum = 0;
    for (unsigned i = 0; i < items; ++i) {
        while (atomic_load_explicit(&tail, memory_order_acquire) == i) {}
        sum += slots[i % size];
        atomic_store_explicit(&head, i + 1, memory_order_release);
    }
    pthread_join(producer, NULL);
    printf("%d\n", sum);
}
