// Each execution is a process of its own.
// summary: undecided: the program does not repeat itself
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
static void* one(void*);
static void* two(void*);
atomic_int x[64];
static void* one(void* _) {
    atomic_store(&x[getpid() % 64], 1);
    return _;
}
static void* two(void* _) {
    return one(_);
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, one, NULL);
    pthread_create(&b, NULL, two, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
