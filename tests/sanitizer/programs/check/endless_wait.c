// summary: 1 deadlock in 1 execution, all there are
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
static void* one(void*);
static void* two(void*);
atomic_int never;
static void* one(void* _) {
    while (!atomic_load_explicit(&never, memory_order_acquire)) {
    }
    return _;
}
static void* two(void* _) {
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
