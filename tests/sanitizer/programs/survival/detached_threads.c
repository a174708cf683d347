// Detached threads.
//
// prints: 300
#include "all.h"

static atomic_int count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static int ended;
static void* work(void* _) {
    atomic_int own = 0;  /* on a stack that the next thread will have */
    atomic_fetch_add_explicit(&own, 1, RELAXED);
    atomic_fetch_add_explicit(&count, own, RELAXED);
    pthread_mutex_lock(&mutex);
    ++ended;
    pthread_cond_signal(&done);
    pthread_mutex_unlock(&mutex);
    return _;
}
int main(void) {
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 300; ++i) {
        pthread_t t;
        assert(pthread_create(&t, i % 2 ? &detached : NULL, work, NULL) == 0);
        if (i % 2 == 0) pthread_detach(t);
        pthread_mutex_lock(&mutex);
        while (ended <= i) pthread_cond_wait(&done, &mutex);
        pthread_mutex_unlock(&mutex);
    }
    printf("%d", atomic_load_explicit(&count, RELAXED));
    return 0;
}
