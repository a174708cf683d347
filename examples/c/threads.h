/* What the C programs of this folder share: their threads, how long they run, and what they check. */
#ifndef THREADS_H
#define THREADS_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* How often each thread does what the program is about. */
#ifndef ROUNDS
#define ROUNDS 100
#endif

/* How many threads there are, where that can be chosen. */
#ifndef THREADS
#define THREADS 3
#endif

#define MOST_THREADS 16

static void thread_body(int number);

static inline void* thread_main(void* number) {
    thread_body((int)(intptr_t)number);
    return NULL;
}

/* Runs thread_body(0) to thread_body(count - 1), each in a thread, and waits for all of them. */
static inline void run_threads(int count) {
    pthread_t threads[MOST_THREADS];
    for (int i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, thread_main, (void*)(intptr_t)i) != 0) {
            perror("pthread_create");
            exit(2);
        }
    }
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

/* Ends the program with exit code 1 if what it promises does not hold. */
static inline void check(int holds, const char* promise) {
    if (!holds) {
        fprintf(stderr, "broken: %s\n", promise);
        exit(1);
    }
}

#endif
