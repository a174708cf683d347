// A thousand short-lived threads.
//
// prints: 1000
#include "all.h"

static atomic_int count;
static void* work(void* _) { atomic_fetch_add_explicit(&count, 1, RELAXED); return _; }
int main(void) {
    for (int i = 0; i < 100; ++i) {
        pthread_t threads[10];
        for (int k = 0; k < 10; ++k) assert(pthread_create(&threads[k], NULL, work, NULL) == 0);
        for (int k = 0; k < 10; ++k) pthread_join(threads[k], NULL);
    }
    printf("%d", atomic_load(&count));
    return 0;
}
