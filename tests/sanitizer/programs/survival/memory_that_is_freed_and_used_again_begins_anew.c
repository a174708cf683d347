// Memory that is freed and used again begins anew. The block goes from one thread to the other through
// the allocator, which orders nothing that we see.
//
// schedules: os
#include "all.h"

#include <malloc.h>
static atomic_int turn;
static volatile int shown;  /* a data race, which nobody is to see */
__attribute__((no_sanitize("thread"), noinline)) static void show(void) { shown = 1; }
__attribute__((no_sanitize("thread"), noinline)) static int is_shown(void) { return shown; }
static void* first(void* _) {
    atomic_int* p = calloc(1, 64);
    atomic_store_explicit(p, 5, RELAXED);
    atomic_store_explicit(&turn, 1, RELAXED);
    free(p);
    show();
    return _;
}
static void* second(void* _) {
    while (!is_shown()) usleep(100);
    (void)atomic_load_explicit(&turn, RELAXED);  /* now it comes after the store, under SC */
    atomic_int* p = calloc(1, 64);
    (void)atomic_load_explicit(p, RELAXED);
    atomic_store_explicit(p, 6, RELAXED);
    free(p);
    return _;
}
int main(void) {
    pthread_t a, b;
    mallopt(-8, 1);  /* one arena, so that the block is the same */
    pthread_create(&b, NULL, second, NULL);
    pthread_create(&a, NULL, first, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
