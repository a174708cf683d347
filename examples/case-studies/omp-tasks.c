// Fibonacci numbers by tasks that wait for their children, and a chain of tasks by dependences.
#include <stdio.h>
static int fib(int n) {
    if (n < 2) return n;
    int a, b;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}
int main(void) {
    int result = 0, chained = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
    {
        result = fib(6);
        for (int i = 0; i < 4; i++) {
#pragma omp task depend(inout : chained) shared(chained)
            chained = chained * 10 + i;
        }
    }
    if (result != 8 || chained != 123) { puts("broken"); return 1; }
    return 0;
}
