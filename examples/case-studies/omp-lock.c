// OpenMP: a list that grows in a critical section, and a count under a lock. With -DFLAG one thread also passes
// plain data to another by an atomic flag, which is relaxed, as OpenMP's atomics are unless they say otherwise.
#include <omp.h>
#include <stdio.h>

int main(void) {
    int list[12], length = 0, count = 0, data = 0, flag = 0, seen = 0;
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(3)
    {
        for (int i = 0; i < 4; i++) {
#pragma omp critical
            list[length++] = i;
            omp_set_lock(&lock);
            count++;
            omp_unset_lock(&lock);
        }
#pragma omp barrier
#ifdef FLAG
        int up = 0;
        if (omp_get_thread_num() == 0) {
            data = 1;
#pragma omp atomic write
            flag = 1;
        } else if (omp_get_thread_num() == 1) {
#pragma omp atomic read
            up = flag;
            if (up) seen = data;
        }
#endif
    }
    omp_destroy_lock(&lock);
    if (length != 12 || count != 12 || list[0] != 0 || (seen && !data) || flag > 1) {
        fprintf(stderr, "broken\n");
        return 1;
    }
    return 0;
}
