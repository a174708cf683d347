// Follows the common head of test_schedules.py.
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s, later;
static int ends[2];
static void unlock(void *mutex) { assert(!pthread_mutex_unlock(mutex)); note(1); }
static void *in_condition(void *unused) {
    pthread_mutex_lock(&m);
    pthread_cleanup_push(unlock, &m);
    for (;;) pthread_cond_wait(&c, &m);
    pthread_cleanup_pop(1);
}
static void *in_semaphore(void *unused) { sem_wait(&s); return unused; }
static void *in_sleep(void *unused) { sleep(10000); return unused; }
static void *in_join(void *unused) { join(0); return unused; }
static void *in_read(void *unused) { char byte; read(ends[0], &byte, 1); return unused; }
static void *not_now(void *unused) {
    int old;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    sem_wait(&later), note(2);
    pthread_setcancelstate(old, 0);
    pthread_testcancel();
    return unused;
}
static void cancel(int i) {
    void *result;
    pthread_cancel(threads[i]);
    if (i == 5) steps(5), sem_post(&later);
    pthread_join(threads[i], &result);
    assert(result == PTHREAD_CANCELED);
}
int main(void) {
    void *(*bodies[])(void *) = {in_condition, in_semaphore, in_sleep, in_join, in_read, not_now};
    sem_init(&s, 0, 0), sem_init(&later, 0, 0), pipe(ends);
    for (int i = 0; i < 6; i++) start(i, bodies[i]);
    steps(100);
    for (int i = 6; i-- > 0;) cancel(i);
    print_order();
    return 0;
}
