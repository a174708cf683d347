/* Runs two threads, or three, and waits for them. */
#ifndef TWO_H
#define TWO_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef void* body(void* nothing);

static inline void run(body* const* bodies, int count) {
    pthread_t threads[3];
    for (int i = 0; i < count; i++) pthread_create(&threads[i], NULL, bodies[i], NULL);
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

/* What a thread ends with, so that the compiler cannot leave out the reads that it is made of. */
#define RESULT(number) ((void*)(intptr_t)(number))

#define RUN(...) run((body* const[]){__VA_ARGS__}, sizeof((body* const[]){__VA_ARGS__}) / sizeof(body*))

#endif
