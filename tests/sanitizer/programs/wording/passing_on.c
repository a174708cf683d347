// Message passing with relaxed accesses, in a fixed order.
//
// reported: not robust: a load of `data` can miss a write that it follows
#include <pthread.h>
#include <stdatomic.h>

static atomic_int data, flag;

static void* writer(void* unused) {
    atomic_store_explicit(&data, 1, memory_order_relaxed);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return unused;
}

static void* reader(void* unused) {
    while (atomic_load_explicit(&flag, memory_order_relaxed) == 0) {
    }
    atomic_load_explicit(&data, memory_order_relaxed);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
