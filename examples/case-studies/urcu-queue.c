// Client of liburcu's wait-free queue: two producers and one consumer.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <urcu/wfcqueue.h>

struct item {
    struct cds_wfcq_node node;
    int value;
};

static struct cds_wfcq_head head;
static struct cds_wfcq_tail tail;

static void *produce(void *unused) {
    for (int i = 0; i < 3; i++) {
        struct item *made = malloc(sizeof *made);
        cds_wfcq_node_init(&made->node);
        made->value = 1;
        cds_wfcq_enqueue(&head, &tail, &made->node);
    }
    return unused;
}

static void *consume(void *unused) {
    for (int taken = 0; taken < 6;) {
        struct cds_wfcq_node *node = __cds_wfcq_dequeue_blocking(&head, &tail);
        if (node == NULL) {
            sched_yield();
            continue;
        }
        struct item *item = caa_container_of(node, struct item, node);
        if (item->value != 1) {
            fprintf(stderr, "broken: an item comes before its value\n");
            exit(1);
        }
        free(item);
        taken++;
    }
    return unused;
}

int main(void) {
    pthread_t threads[3];
    cds_wfcq_init(&head, &tail);
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, i < 2 ? produce : consume, NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    return 0;
}
