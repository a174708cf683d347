// What signal handlers do in a thread is known to whoever joins it, from the thread's first moment on.
//
// schedules: os
// prints: 1000
#include "all.h"

static atomic_int x[64], y[64];
static int volatile done;
static void handle(int s) {
    if (gettid() == getpid()) return;  // main
    int const i = done % 64;
    atomic_store_explicit(&x[i], done, RELAXED);
    atomic_store_explicit(&y[i], done, RELAXED);
    (void)s;
}
static void* work(void* _) {
    return _;
}
int main(void) {
    struct sigaction const action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    struct itimerval const often = {{0, 20}, {0, 20}}, never = {{0, 0}, {0, 0}};
    for (; done < 1000; ++done) {
        pthread_t thread;
        sigprocmask(SIG_UNBLOCK, &alarm, NULL);
        setitimer(ITIMER_REAL, &often, NULL);
        pthread_create(&thread, NULL, work, NULL);
        sigprocmask(SIG_BLOCK, &alarm, NULL);
        pthread_join(thread, NULL);
        setitimer(ITIMER_REAL, &never, NULL);
        int const seen = atomic_load_explicit(&y[done % 64], RELAXED);
        if (seen > atomic_load_explicit(&x[done % 64], RELAXED)) abort();
    }
    printf("%d", done);
    return 0;
}
