// Writes as often as its argument says, and prints its peak memory in KiB.
#include <sched.h>

#include "../survival/all.h"

static atomic_long x, flag;
static void* writes(void* n) {
    for (long i = 1; i <= (long)(intptr_t)n; ++i) atomic_store_explicit(&x, i, RELAXED);
    atomic_store_explicit(&flag, 1, memory_order_release);
    return NULL;
}
static void* reads(void* _) {
    while (atomic_load_explicit(&flag, memory_order_acquire) == 0) sched_yield();
    (void)atomic_load_explicit(&x, RELAXED);
    return _;
}
int main(int count, char** words) {
    pthread_t a, b;
    pthread_create(&a, NULL, writes, (void*)(intptr_t)(count > 1 ? atol(words[1]) : 1));
    pthread_create(&b, NULL, reads, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    char line[256];
    FILE* status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0) printf("%ld", atol(line + 6));
    fclose(status);
    return 0;
}
