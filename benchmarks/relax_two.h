/* In place of examples/c/seq-cst/two.h: a client does not run its threads, it hands them to relax_driver.c.
 */
#ifndef TWO_H
#define TWO_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef void* body(void* nothing);

/* Takes the bodies of the two threads of the next client. */
void take_bodies(body* const* bodies);

#define RESULT(number) ((void*)(intptr_t)(number))
#define RUN(...) take_bodies((body* const[]){__VA_ARGS__})

#endif
