/* Measures a client of two threads, natively: nanoseconds that it takes, as the median of many batches.
 *
 *     driver alone|together SECONDS
 *
 * A batch is one run of each copy of the client; they are linked as CLIENTS different programs, so that no
 * two share a variable. Between batches all variables of the program are put back to what they were, which is
 * not measured. `alone` runs one thread after the other in the same thread, `together` both at the same time:
 * a batch counts if the shorter one ran at the same time as the other for most of it, which the system
 * decides. What belongs to the driver and changes is on the heap. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "relax_two.h"

enum {
    CLIENTS = 32,
    MOST_BATCHES = 2000000,
    FEWEST_BATCHES = 1000,
    MOST_TIMES_LONGER = 100,
    NANOSECONDS_TO_MEET = 1000
};

#define EACH(DO)                                                                                         \
    DO(0)                                                                                                \
    DO(1)                                                                                                \
    DO(2)                                                                                                \
    DO(3)                                                                                                \
    DO(4)                                                                                                \
    DO(5)                                                                                                \
    DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15) DO(16) DO(17) DO(18) DO(19) DO(20) \
        DO(21) DO(22) DO(23) DO(24) DO(25) DO(26) DO(27) DO(28) DO(29) DO(30) DO(31)

#define DECLARE(number) int client_##number(void);
#define NAME(number) client_##number,
EACH(DECLARE)
static int (*const mains[CLIENTS])(void) = {EACH(NAME)};

extern char __data_start, _end;

struct span {
    double begin, end;
};

struct driver {
    body* bodies[CLIENTS][2];
    int taken;
    _Alignas(64) atomic_long arrived;
    _Alignas(64) atomic_int over;
    double start;
    _Alignas(64) struct span second;
    double* batches;
    long count;
};
static struct driver* driver;

void take_bodies(body* const* bodies) {
    memcpy(driver->bodies[driver->taken++], bodies, sizeof driver->bodies[0]);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

/* Waits until both threads are here for the `phase`th time. */
static void meet(struct driver* at, long phase) {
    atomic_fetch_add(&at->arrived, 1);
    while (atomic_load_explicit(&at->arrived, memory_order_acquire) < 2 * phase);
}

/* The threads begin together, a little later, so that both know of it. */
static struct span batch(struct driver* at, int thread) {
    struct span span;
    do span.begin = now();
    while (span.begin < at->start);
    for (int client = 0; client < CLIENTS; client++) at->bodies[client][thread](NULL);
    span.end = now();
    return span;
}

static void note(struct driver* at, double nanoseconds) {
    if (at->count < MOST_BATCHES) at->batches[at->count++] = nanoseconds / CLIENTS;
}

static double smallest(double one, double other) {
    return one < other ? one : other;
}

static void note_both(struct driver* at, struct span one, struct span other) {
    double first = smallest(one.begin, other.begin), last = -smallest(-one.end, -other.end);
    double both = smallest(one.end, other.end) + smallest(-one.begin, -other.begin);
    if (both > smallest(one.end - one.begin, other.end - other.begin) / 2) note(at, last - first);
}

/* The two threads need processors of their own. */
static void stay_on(int processor) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(processor, &only);
    pthread_setaffinity_np(pthread_self(), sizeof only, &only);
}

static void* second(void* argument) {
    struct driver* at = argument;
    stay_on(1);
    for (long phase = 1;;) {
        meet(at, phase++);
        if (atomic_load(&at->over)) return NULL;
        at->second = batch(at, 1);
        meet(at, phase++);
    }
}

static int smaller(const void* one, const void* other) {
    double a = *(const double*)one, b = *(const double*)other;
    return (a > b) - (a < b);
}

int main(int count, char** words) {
    if (count != 3) return 2;
    int together = strcmp(words[1], "together") == 0;
    double begin = now(), wanted = 1e9 * atof(words[2]);
    struct driver* at = driver = aligned_alloc(64, (sizeof *driver + 63) / 64 * 64);
    memset(at, 0, sizeof *at);
    at->batches = malloc(MOST_BATCHES * sizeof *at->batches);
    for (int client = 0; client < CLIENTS; client++) mains[client]();
    size_t size = (size_t)(&_end - &__data_start);
    char* before = malloc(size);
    memcpy(before, &__data_start, size);

    pthread_t thread;
    stay_on(0);
    if (together && pthread_create(&thread, NULL, second, at) != 0) return 2;
    for (long phase = 1;;) {
        memcpy(&__data_start, before, size);
        double elapsed = now() - begin;
        if (elapsed > MOST_TIMES_LONGER * wanted || (elapsed > wanted && at->count >= FEWEST_BATCHES))
            atomic_store(&at->over, 1);
        if (together) {
            at->start = now() + NANOSECONDS_TO_MEET;
            meet(at, phase++);
        }
        if (atomic_load(&at->over)) break;
        struct span first = batch(at, 0);
        if (together) {
            meet(at, phase++);
            note_both(at, first, at->second);
        } else {
            note(at, batch(at, 1).end - first.begin);
        }
    }
    if (together) pthread_join(thread, NULL);
    if (at->count < FEWEST_BATCHES) {
        fprintf(stderr, "only %ld batches in which both threads ran at the same time\n", at->count);
        return 2;
    }
    qsort(at->batches, (size_t)at->count, sizeof *at->batches, smaller);
    printf("%.3f\n", at->batches[at->count / 2]);
}
