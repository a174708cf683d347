// Peterson's lock, whose first thread never leaves: the other one waits for two places.
// summary: 2 deadlocks in
#include <pthread.h>
#include <stdatomic.h>
atomic_int wants[2], turn, never;
static void* enter(void* number) {
    int const me = number != NULL;
    atomic_store(&wants[me], 1);
    atomic_store(&turn, 1 - me);
    while (atomic_load(&wants[1 - me]) && atomic_load(&turn) != me) {
    }
    return NULL;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, enter, NULL);
    pthread_create(&b, NULL, enter, &never);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
