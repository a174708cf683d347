// Threads that are cancelled or exit.
//
// prints: 2
#include "all.h"

static atomic_int cleaned;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static void clean(void* _) { (void)_; atomic_fetch_add(&cleaned, 1); pthread_mutex_unlock(&mutex); }
static void* waits(void* _) {
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(clean, NULL);
    for (;;) pthread_cond_wait(&never, &mutex);
    pthread_cleanup_pop(1);
    return _;
}
static void* exits(void* _) { atomic_fetch_add(&cleaned, 1); pthread_exit(_); }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, waits, NULL);
    pthread_create(&b, NULL, exits, &a);
    usleep(1000);
    pthread_cancel(a);
    void* result;
    pthread_join(a, &result);
    assert(result == PTHREAD_CANCELED);
    pthread_join(b, &result);
    assert(result == &a);
    printf("%d", cleaned);
    return 0;
}
