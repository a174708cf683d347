/* Client of Concurrency Kit's ck_stack (Debian: libck-dev): two threads push and two pop, each item once. Run it
 * with FENCEPOST_OPTIONS=volatile=relaxed. */
#define CK_USE_CC_BUILTINS 1
#include <ck_stack.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#ifndef ROUNDS
#define ROUNDS 20
#endif

typedef struct {
    ck_stack_entry_t entry;
    int seen;
} item;

static ck_stack_t stack = CK_STACK_INITIALIZER;
static item items[2][ROUNDS];

static void *push(void *own) {
    item *mine = own;
    for (int i = 0; i < ROUNDS; i++) ck_stack_push_upmc(&stack, &mine[i].entry);
    return NULL;
}

static void *pop(void *none) {
    for (int i = 0; i < ROUNDS; i++) {
        ck_stack_entry_t *entry;
        while ((entry = ck_stack_pop_upmc(&stack)) == NULL) sched_yield();
        ++((item *)entry)->seen;
    }
    return none;
}

int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[2 * i], NULL, push, items[i]);
        pthread_create(&threads[2 * i + 1], NULL, pop, NULL);
    }
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 2 * ROUNDS; i++) {
        if (items[0][i].seen == 1) continue;
        fputs("broken: an item is lost or comes twice\n", stderr);
        return 1;
    }
    return 0;
}
