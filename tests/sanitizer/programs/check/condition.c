// The flag is set before the other thread looks, or while it waits.
// summary: robust: all 2 executions seen
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
static void* one(void*);
static void* two(void*);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int ready;
static void* one(void* _) {
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&m);
    return _;
}
static void* two(void* _) {
    pthread_mutex_lock(&m);
    while (!ready) pthread_cond_wait(&changed, &m);
    pthread_mutex_unlock(&m);
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
