// Fork while other threads use atomics.
//
// schedules: os
#include "all.h"

static atomic_int stop, count;
static void* work(void* _) {
    while (!atomic_load(&stop)) { atomic_fetch_add(&count, 1); free(malloc(100)); }
    return _;
}
static void* child_work(void* _) { atomic_fetch_add(&count, 1); return _; }
int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 40; ++i) {
        pid_t child = fork();
        if (child == 0) {
            pthread_t t;
            pthread_create(&t, NULL, child_work, NULL);
            pthread_join(t, NULL);
            for (int k = 0; k < 100; ++k) atomic_fetch_add(&count, 1);
            if (i % 2) exit(7);
            _exit(7);
        }
        int status = 0;
        assert(waitpid(child, &status, 0) == child);
        assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
    return 0;
}
