// Of the two ways in which the wait can end before the flag is set, and the one in which it need not begin.
// The thread that gives up has seen nothing, and says so.
// summary: 1 failure in 4 executions, all there are
#include <assert.h>
#include <pthread.h>
#include <time.h>
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
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 1;
    pthread_mutex_lock(&m);
    if (!ready) pthread_cond_timedwait(&changed, &m, &limit);
    assert(ready);
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
