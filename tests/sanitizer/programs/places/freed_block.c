// Store buffering in a heap block, which is freed, and its memory used for another block, before the program
// ends and the finding is told.
//
// allocated: 30
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

struct flags {
    atomic_int x, y;
};
static volatile int turn;

static void *first(void *data) {
    struct flags *flags = data;
    atomic_store_explicit(&flags->x, 1, memory_order_relaxed);
    (void)atomic_load_explicit(&flags->y, memory_order_relaxed);
    turn = 1;
    return NULL;
}

static void *other_block(size_t size) {
    return malloc(size);
}

int main(void) {
    pthread_t thread;
    struct flags *flags = calloc(1, sizeof *flags);
    pthread_create(&thread, NULL, first, flags);
    while (turn != 1) usleep(50);
    atomic_store_explicit(&flags->y, 1, memory_order_relaxed);
    (void)atomic_load_explicit(&flags->x, memory_order_relaxed);
    pthread_join(thread, NULL);
    free(flags);
    return other_block(sizeof *flags) == NULL;
}
