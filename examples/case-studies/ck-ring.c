/* Client of Concurrency Kit's ck_ring (Debian: libck-dev): a producer and a consumer, and a ring that is smaller
 * than the number of items. The library reads and writes by volatile accesses, so run it with
 * FENCEPOST_OPTIONS=volatile=relaxed. */
#define CK_USE_CC_BUILTINS 1
#include <ck_ring.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#ifndef ROUNDS
#define ROUNDS 20
#endif

static ck_ring_t ring;
static ck_ring_buffer_t buffer[4];
static int items[ROUNDS];

static void *produce(void *none) {
    for (int i = 0; i < ROUNDS; i++) {
        items[i] = i + 1;
        while (!ck_ring_enqueue_spsc(&ring, buffer, &items[i])) sched_yield();
    }
    return none;
}

static void *consume(void *none) {
    for (int i = 0; i < ROUNDS; i++) {
        int *item;
        while (!ck_ring_dequeue_spsc(&ring, buffer, &item)) sched_yield();
        if (*item == i + 1) continue;
        fputs("broken: an item is lost or comes twice\n", stderr);
        return item;
    }
    return none;
}

int main(void) {
    pthread_t producer, consumer;
    void *broken;
    ck_ring_init(&ring, 4);
    pthread_create(&producer, NULL, produce, NULL);
    pthread_create(&consumer, NULL, consume, NULL);
    pthread_join(producer, NULL);
    pthread_join(consumer, &broken);
    return broken != NULL;
}
