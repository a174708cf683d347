// A parallel loop with a reduction, and one whose sum is an atomic update.
#include <stdio.h>
#define N 64
int main(void) {
    int values[N], sum = 0, updated = 0;
#pragma omp parallel for num_threads(3)
    for (int i = 0; i < N; i++) values[i] = i;
#pragma omp parallel for num_threads(3) reduction(+ : sum)
    for (int i = 0; i < N; i++) sum += values[i];
#pragma omp parallel for num_threads(3) schedule(dynamic, 4)
    for (int i = 0; i < N; i++) {
#pragma omp atomic
        updated += values[i];
    }
    if (sum != N * (N - 1) / 2 || updated != sum) { puts("broken"); return 1; }
    return 0;
}
