// Threads that pass on relaxed atomics and plain data by nothing but OpenMP: fork and join, barriers, critical
// sections, locks, `single` with a copy, and tasks.
//
// prints: 700
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
enum { threads = 4, rounds = 5 };
static atomic_int x[threads], y[threads];
static int plain[threads], total;
static void put(int i, int value) {
    plain[i] = value;
    atomic_store_explicit(&x[i], value, memory_order_relaxed);
    atomic_store_explicit(&y[i], value, memory_order_relaxed);
}
static int get(int i) {
    int const late = atomic_load_explicit(&y[i], memory_order_relaxed);
    int const early = atomic_load_explicit(&x[i], memory_order_relaxed);
    if (early != late || plain[i] != early) abort();
    return early;
}
int main(void) {
    omp_lock_t lock;
    omp_init_lock(&lock);
    omp_set_num_threads(threads);
    for (int round = 1; round <= rounds; ++round) {
        for (int i = 0; i < threads; ++i) put(i, round);
#pragma omp parallel
        {
            int const me = omp_get_thread_num();
            int sum = get((me + 1) % threads);
#pragma omp barrier
            put(me, 10 * round);
#pragma omp barrier
            sum += get((me + 1) % threads);
#pragma omp for schedule(dynamic)
            for (int i = 0; i < threads; ++i) sum += get(i) / (10 * round);
#pragma omp critical
            total += sum;
#pragma omp critical(named)
            put(0, get(0));
            omp_set_lock(&lock);
            put(1, get(1));
            omp_unset_lock(&lock);
            int copied = 0;
#pragma omp single copyprivate(copied)
            {
                put(2, 7);
                copied = 1;
            }
            if (get(2) != 7) abort();
#pragma omp barrier
#pragma omp single
            {
                put(3, round);
#pragma omp task
                put(3, get(3) + 1);
#pragma omp taskwait
                put(3, get(3) + 1);
            }
        }
        for (int i = 0; i < threads; ++i) total += get(i) > 0;
    }
    omp_destroy_lock(&lock);
    printf("%d", total);
    return 0;
}
