// Without preemptions, one thread after the other: nothing is wrong in these, but that is no proof.
// options: --bound 0
// summary: undecided: executions with more preemptions than the bound were not run; nothing was seen
#include <pthread.h>
#include <stdatomic.h>
atomic_int x, y;
static void* one(void* _) {
    atomic_store(&x, 1);
    atomic_store(&x, 2);
    return _;
}
static void* two(void* _) {
    (void)atomic_load(&x);
    (void)atomic_load(&x);
    return _;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, one, NULL);
    pthread_create(&b, NULL, two, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
