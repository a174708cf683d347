// Three findings in a fixed order: store buffering of (x, y), then of (y, z), then of (z, x). Each pair has its
// own copy of `buffer`: in a copy shared by all, the three would be one finding.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
atomic_int x, y, z;
static volatile int turn;
static inline __attribute__((always_inline)) void buffer(atomic_int* mine, atomic_int* other) {
    atomic_store_explicit(mine, 1, memory_order_relaxed);
    atomic_load_explicit(other, memory_order_relaxed);
}
__attribute__((noinline)) void first_pair(atomic_int* a, atomic_int* b) { buffer(a, b); __asm__(""); }
__attribute__((noinline)) void second_pair(atomic_int* a, atomic_int* b) { buffer(a, b); __asm__(""); }
__attribute__((noinline)) void third_pair(atomic_int* a, atomic_int* b) { buffer(a, b); __asm__(""); }
static void wait_for(int t) { while (turn != t) usleep(100); }
static void* left(void* unused) {
    first_pair(&x, &y); turn = 1;
    wait_for(2); second_pair(&y, &z); turn = 3;
    wait_for(4); third_pair(&z, &x); turn = 5;
    return unused;
}
static void* right(void* unused) {
    wait_for(1); first_pair(&y, &x); turn = 2;
    wait_for(3); second_pair(&z, &y); turn = 4;
    wait_for(5); third_pair(&x, &z);
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, left, 0);
    pthread_create(&b, 0, right, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    puts("end");
    return 7;
}
