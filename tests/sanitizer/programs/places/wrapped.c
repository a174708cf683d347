// Write-read causality by wrappers, in a fixed order.
//
// says: thread T2: write y (relaxed.h:9:5, called at wrapped.c:29:5); then main thread: read y
// says: (relaxed.h:5:12, called at wrapped.c:41:11)). The memory orders
// says: use `memory_order_release` for the operation at relaxed.h:9:5, called at wrapped.c:29:5.
// says: use `memory_order_acquire` for the operation at relaxed.h:5:12, called at wrapped.c:41:11.
#include "relaxed.h"

#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

static atomic_int x, y;
static volatile int turn;

static void wait_for(int t) {
    while (turn != t) usleep(50);
}

static void *first(void *unused) {
    set(&x, 1);
    turn = 1;
    return unused;
}

static void *second(void *unused) {
    wait_for(1);
    (void)get(&x);
    set(&y, 1);
    turn = 2;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    pthread_detach(threads[0]);
    pthread_detach(threads[1]);
    wait_for(2);
    (void)get(&y);
    (void)get(&x);
    return 0;
}
