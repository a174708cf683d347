// Atomics in signal handlers.
//
// library options: steps=1000000000
#include "all.h"

static atomic_long handled, worked;
static void handle(int s) { (void)s; atomic_fetch_add(&handled, 1); atomic_thread_fence(SEQ); }
static void* work(void* _) {
    while (atomic_load(&handled) < 200) { atomic_fetch_add(&worked, 1); free(malloc(16)); }
    return _;
}
int main(void) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    sigaction(SIGPROF, &action, NULL);
    struct itimerval every = {{0, 500}, {0, 500}};
    setitimer(ITIMER_PROF, &every, NULL);
    pthread_t threads[2];
    for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, work, NULL);
    work(NULL);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    return 0;
}
