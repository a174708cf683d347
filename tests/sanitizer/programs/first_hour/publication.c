// A pointer is published with release, and read relaxed: the reader may find the object not filled in.
// atomics: nothing seen
// races: data race
// repair: use `memory_order_acquire` for the operation at publication.c:21
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct message { int number; };
static _Atomic(struct message *) box;

static void *send(void *unused) {
    struct message *m = malloc(sizeof *m);
    m->number = 42;
    atomic_store_explicit(&box, m, memory_order_release);
    return unused;
}

static struct message *receive(void) {
    return atomic_load_explicit(&box, memory_order_relaxed);
}

int main(void) {
    pthread_t sender;
    pthread_create(&sender, NULL, send, NULL);
    struct message *m;
    while ((m = receive()) == NULL) {}
    printf("%d\n", m->number);
    pthread_join(sender, NULL);
    free(m);
}
