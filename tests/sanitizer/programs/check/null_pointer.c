// A reader that comes first follows a null pointer.
// summary: 1 failure in 2 executions, all there are
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static int value = 1;
static _Atomic(int*) published;

__attribute__((noinline)) static int follow(int const volatile* pointer) {
    return *pointer;
}

static void* publish(void* unused) {
    atomic_store(&published, &value);
    return unused;
}

static void* read_value(void* unused) {
    return follow(atomic_load(&published)) == 1 ? unused : &value;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, publish, NULL);
    pthread_create(&threads[1], NULL, read_value, NULL);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    return 0;
}
