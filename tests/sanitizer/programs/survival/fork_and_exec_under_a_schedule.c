// Fork and exec under a schedule.
//
// exit code: 5
#include "all.h"

static atomic_int count;
static void* work(void* _) { for (int i = 0; i < 100; ++i) atomic_fetch_add(&count, 1); return _; }
int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    assert(system("exit 3") == 3 << 8);
    pid_t child = fork();
    if (child == 0) { atomic_fetch_add(&count, 1); exit(5); }
    int status = 0;
    waitpid(child, &status, 0);
    pthread_join(t, NULL);
    return WEXITSTATUS(status);
}
