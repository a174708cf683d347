// The reader waits for the flag, going round at least once. Under SC it then comes after the store of `x` as well,
// but an old value of the flag only makes it go round again.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
atomic_int x, flag;
static volatile int turn;
static void* writer(void* unused) {
    while (turn == 0) usleep(100);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    atomic_load_explicit(&x, memory_order_relaxed);
    turn = 2;
    return unused;
}
static int load(void) { return atomic_load_explicit(&flag, memory_order_relaxed); }
static void* reader(void* unused) {
    int rounds = 0;
    while (1) {
        if (rounds == 3) {
            turn = 1;
            while (turn != 2) usleep(100);
            atomic_store_explicit(&x, 1, memory_order_relaxed);
        }
        if (load()) return unused;
        rounds++;
    }
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
