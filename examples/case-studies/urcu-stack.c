// Client of liburcu's lock-free stack: two threads push, and two pop, under a mutex, as its description asks.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <urcu/lfstack.h>

struct item {
    struct cds_lfs_node node;
    int value;
};

static struct cds_lfs_stack stack;
static pthread_mutex_t poppers = PTHREAD_MUTEX_INITIALIZER;

static void *push(void *unused) {
    for (int i = 0; i < 3; i++) {
        struct item *made = malloc(sizeof *made);
        cds_lfs_node_init(&made->node);
        made->value = 1;
        cds_lfs_push(&stack, &made->node);
    }
    return unused;
}

static void *pop(void *unused) {
    for (int taken = 0; taken < 3;) {
        pthread_mutex_lock(&poppers);
        struct cds_lfs_node *node = __cds_lfs_pop(&stack);
        pthread_mutex_unlock(&poppers);
        if (node == NULL) {
            sched_yield();
            continue;
        }
        if (caa_container_of(node, struct item, node)->value != 1) {
            fprintf(stderr, "broken: an item comes before its value\n");
            exit(1);
        }
        taken++;
    }
    return unused;
}

int main(void) {
    pthread_t threads[4];
    cds_lfs_init(&stack);
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, i < 2 ? push : pop, NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    return 0;
}
