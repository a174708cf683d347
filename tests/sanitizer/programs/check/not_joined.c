// The process may end before, between and after the writes, whatever it has read before.
// summary: 1 failure in 6 executions, all there are
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
static void* one(void*);
static void* two(void*);
atomic_int x;
static void* one(void* _) {
    atomic_store(&x, 1);
    atomic_store(&x, 2);
    return _;
}
static void* two(void* _) {
    return _;
}
int main(void) {
    pthread_t a;
    (void)two;
    pthread_create(&a, NULL, one, NULL);
    return atomic_load(&x) == 2 ? 3 : 0;
}
