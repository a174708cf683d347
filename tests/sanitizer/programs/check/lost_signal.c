// A signal before the wait is lost.
// summary: 1 deadlock in 2 executions, all there are
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
static void* one(void*);
static void* two(void*);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static void* one(void* _) {
    pthread_cond_signal(&changed);
    return _;
}
static void* two(void* _) {
    pthread_mutex_lock(&m);
    pthread_cond_wait(&changed, &m);
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
