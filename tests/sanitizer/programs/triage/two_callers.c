// One load and one store, each reached by two ways: four findings at one pair of lines.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int x[2], y[2];

static __attribute__((noinline)) int write_and_look(atomic_int *to, atomic_int *from) {
    atomic_store_explicit(to, 1, memory_order_relaxed);
    return atomic_load_explicit(from, memory_order_relaxed);
}

static void *one(void *unused) {
    int a = write_and_look(&x[0], &y[0]);
    int b = write_and_look(&x[1], &y[1]);
    return a + b > 5 ? unused : NULL;
}

static void *other(void *unused) {
    int a = write_and_look(&y[0], &x[0]);
    int b = write_and_look(&y[1], &x[1]);
    return a + b > 5 ? unused : NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, one, NULL);
    pthread_create(&threads[1], NULL, other, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
