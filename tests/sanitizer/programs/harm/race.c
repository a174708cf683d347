// A thread goes in if the other has not come yet. Only in weak executions both go in, and race.
// build: --mode full -O0
// harm: mine shown, yours shown
// why: data race
#include <pthread.h>
#include <stdatomic.h>

static atomic_int mine, yours;
static int inside;

static void *one(void *arg) {
    atomic_store_explicit(&mine, 1, memory_order_release);
    if (!atomic_load_explicit(&yours, memory_order_acquire)) inside = 1;
    return arg;
}

static void *two(void *arg) {
    atomic_store_explicit(&yours, 1, memory_order_release);
    if (!atomic_load_explicit(&mine, memory_order_acquire)) inside = 2;
    return arg;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, one, 0);
    pthread_create(&threads[1], 0, two, 0);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
    return inside > 2;
}
