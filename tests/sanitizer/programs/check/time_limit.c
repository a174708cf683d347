// Whether the time runs out is not tried both ways, so nothing is proved.
// summary: undecided: only one outcome was tried of waits with a time limit, which may or may not run out
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
static void* one(void*);
static void* two(void*);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void* one(void* _) {
    pthread_mutex_lock(&m);
    sleep(1);
    pthread_mutex_unlock(&m);
    return _;
}
static void* two(void* _) {
    struct timespec const soon = {0, 0};
    if (pthread_mutex_timedlock(&m, &soon) == 0) pthread_mutex_unlock(&m);
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
