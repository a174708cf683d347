// The middle thread of write-read causality joins 300 others before it passes on what it has read. All that
// is known of those must not displace how the write comes before the last load.
//
// reported: 52 misses 26
// repair: release 39
// repair: acquire 51
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static atomic_int x, y, counters[10];
static volatile int turn;

static void wait_for(int t) {
    while (turn != t) usleep(50);
}

static void *count(void *unused) {
    for (int i = 0; i < 10; i++)
        atomic_fetch_add_explicit(&counters[i], 1, memory_order_relaxed);
    return unused;
}

static void *first(void *unused) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    turn = 1;
    return unused;
}

static void *middle(void *unused) {
    wait_for(1);
    (void)atomic_load_explicit(&x, memory_order_relaxed);
    for (int i = 0; i < 300; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, count, NULL);
        pthread_join(thread, NULL);
    }
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    turn = 2;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, middle, NULL);
    pthread_detach(threads[0]);
    pthread_detach(threads[1]);
    wait_for(2);
    (void)atomic_load_explicit(&y, memory_order_relaxed);
    (void)atomic_load_explicit(&x, memory_order_relaxed);
    return 0;
}
