// Both allocations succeed, or one of them fails, which the second thread does not expect.
// options: --fail-allocations 1
// summary: 1 failure in
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static void* one(void* _) {
    int* volatile number = malloc(sizeof *number);
    if (number != NULL) *number = 1;
    free(number);
    return _;
}
static void* two(void* _) {
    int* volatile number = malloc(sizeof *number);
    assert(number != NULL);
    free(number);
    return _;
}
int main(void) {
    pthread_t a, b;
    if (pthread_create(&a, NULL, one, NULL) != 0) return 0;
    if (pthread_create(&b, NULL, two, NULL) != 0) _Exit(0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
