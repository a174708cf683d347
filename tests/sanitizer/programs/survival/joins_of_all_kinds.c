// Joins of all kinds. Who has joined a thread knows what it did: the loads after it are no violations.
#include "all.h"

#include <errno.h>
#include <sched.h>
#include <time.h>
static atomic_int x, go;
static void* work(void* p) { atomic_fetch_add_explicit(&x, 1, RELAXED); return p; }
static void* late(void* p) {
    while (!atomic_load_explicit(&go, memory_order_acquire)) usleep(10);
    return work(p);
}
static pthread_t made(void* (*body)(void*)) {
    pthread_t t;
    assert(pthread_create(&t, NULL, body, &x) == 0);
    return t;
}
static int seen(void) { return atomic_load_explicit(&x, RELAXED); }
static struct timespec in(clockid_t clock, long milliseconds) {
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_sec += (t.tv_nsec + milliseconds * 1000000) / 1000000000;
    t.tv_nsec = (t.tv_nsec + milliseconds * 1000000) % 1000000000;
    return t;
}
int main(void) {
    void* result;
    pthread_t t = made(work);
    while (pthread_tryjoin_np(t, &result) == EBUSY) sched_yield();
    assert(result == &x && seen() == 1);
    struct timespec limit = in(CLOCK_REALTIME, 60000);
    assert(pthread_timedjoin_np(made(work), &result, &limit) == 0 && seen() == 2);
    limit = in(CLOCK_MONOTONIC, 60000);
    assert(pthread_clockjoin_np(made(work), &result, CLOCK_MONOTONIC, &limit) == 0 && seen() == 3);
    assert(pthread_timedjoin_np(made(work), NULL, NULL) == 0 && seen() == 4);
    t = made(late);
    assert(pthread_tryjoin_np(t, NULL) == EBUSY);
    limit = in(CLOCK_REALTIME, 20);
    assert(pthread_timedjoin_np(t, NULL, &limit) == ETIMEDOUT);
    limit = in(CLOCK_MONOTONIC, 20);
    assert(pthread_clockjoin_np(t, NULL, CLOCK_MONOTONIC, &limit) == ETIMEDOUT);
    atomic_store_explicit(&go, 1, memory_order_release);
    assert(pthread_join(t, NULL) == 0 && seen() == 5);
    return 0;
}
