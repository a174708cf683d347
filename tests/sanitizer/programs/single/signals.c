// Follows the common head of test_schedules.py.
static atomic_int handled, stop, awake, waiting;
static _Thread_local int mine;
static pthread_t by;
static void handler(int number) { mine++; by = pthread_self(); atomic_fetch_add(&handled, 1); }
static void *until_stopped(void *unused) {
    while (!atomic_load(&stop)) sched_yield();
    assert(mine == 3);
    return unused;
}
static void *asleep(void *unused) {
    sleep(1000000);
    assert(mine > 0);
    atomic_fetch_add(&awake, 1);
    return unused;
}
static void *paused(void *unused) {
    assert(pause() == -1 && errno == EINTR && mine > 0);
    atomic_fetch_add(&awake, 1);
    return unused;
}
static sigset_t awaited;
static void *taking(void *unused) {
    int number;
    atomic_fetch_add(&waiting, 1);
    assert(!sigwait(&awaited, &number) && number == SIGUSR2);
    return unused;
}
int main(void) {
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGUSR1, &action, 0);
    start(0, until_stopped);
    for (int i = 0; i < 3; i++) {
        pthread_kill(threads[0], SIGUSR1);
        while (atomic_load(&handled) != i + 1) {}
        assert(pthread_equal(by, threads[0]));
    }
    stop = 1;
    join(0);
    start(1, asleep), start(2, paused);
    while (atomic_load(&awake) != 2) pthread_kill(threads[2], SIGUSR1), pthread_kill(threads[1], SIGUSR1);
    join(1), join(2);
    pthread_kill(pthread_self(), SIGUSR1), raise(SIGUSR1);
    assert(mine == 2);
    sigemptyset(&awaited), sigaddset(&awaited, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &awaited, 0);
    start(3, taking), start(4, taking);
    while (atomic_load(&waiting) != 2) {}
    pthread_kill(threads[3], SIGUSR2), join(3);
    kill(getpid(), SIGUSR2), join(4);
    return 0;
}
