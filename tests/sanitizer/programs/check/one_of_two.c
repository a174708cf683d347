// Who locks first, when the signal comes, which of two it wakes, and who then locks first.
// summary: 3 deadlocks in 10 executions, all there are
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static void* waits(void* _) {
    pthread_mutex_lock(&m);
    pthread_cond_wait(&changed, &m);
    pthread_mutex_unlock(&m);
    return _;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, waits, NULL);
    pthread_create(&b, NULL, waits, NULL);
    pthread_cond_signal(&changed);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
