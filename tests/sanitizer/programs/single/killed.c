// Stores in a fixed order, the last of which can come before a write that it follows; then a signal that cannot
// be handled.
#include "../survival/all.h"

atomic_int x, y;  /* not static: the compiler must not leave them out */
static volatile int turn;
static void* first(void* _) {
    atomic_store_explicit(&x, 1, RELAXED);
    atomic_store_explicit(&y, 2, RELAXED);
    turn = 1;
    return _;
}
static void* second(void* _) {
    while (turn == 0) usleep(100);
    atomic_store_explicit(&y, 1, RELAXED);
    atomic_store_explicit(&x, 2, RELAXED);
    raise(SIGKILL);
    return _;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
