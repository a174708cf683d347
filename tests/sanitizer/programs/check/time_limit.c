// The lock is taken before or after the other thread has it, or time runs out while it has it.
// summary: robust: all 3 executions seen
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void* one(void* _) {
    pthread_mutex_lock(&m);
    sleep(1);
    pthread_mutex_unlock(&m);
    return _;
}
static void* two(void* _) {
    struct timespec const soon = {0, 0};
    int const error = pthread_mutex_timedlock(&m, &soon);
    assert(error == 0 || error == ETIMEDOUT);
    if (error == 0) pthread_mutex_unlock(&m);
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
