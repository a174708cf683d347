// The same with the older functions.
//
// seen in: atomics full races
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
void AnnotateHappensBefore(char const*, int, void const*);
void AnnotateHappensAfter(char const*, int, void const*);
static atomic_int x, y, turn;
static int payload;
static void* first(void* _) {
    payload = 1;
    atomic_store_explicit(&x, 1, memory_order_relaxed);
#ifndef SILENT
    AnnotateHappensBefore(__FILE__, __LINE__, &turn);
#endif
    atomic_store_explicit(&turn, 1, memory_order_relaxed);
    return _;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, first, 0);
    while (atomic_load_explicit(&turn, memory_order_relaxed) == 0) {
        struct timespec const little = {0, 1000};
        nanosleep(&little, 0);
    }
#ifndef SILENT
    AnnotateHappensAfter(__FILE__, __LINE__, &turn);
#endif
    int const seen = atomic_load_explicit(&x, memory_order_relaxed);  // after `first` has written it, in each interleaving
    payload = 2;
    pthread_join(t, 0);
    return seen - 1;
}
