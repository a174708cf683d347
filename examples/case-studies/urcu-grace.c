// Client of liburcu, flavour "mb": two readers of an object that a writer replaces and frees after a grace period.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <urcu.h>

struct object {
    int alive;
};

static struct object *current;

static struct object *make(void) {
    struct object *made = malloc(sizeof *made);
    made->alive = 1;
    return made;
}

static void *reader(void *unused) {
    rcu_register_thread();
    for (int i = 0; i < 2; i++) {
        rcu_read_lock();
        if (rcu_dereference(current)->alive != 1) {
            fprintf(stderr, "broken: an object is used after its grace period\n");
            exit(1);
        }
        rcu_read_unlock();
    }
    rcu_unregister_thread();
    return unused;
}

static void *writer(void *unused) {
    for (int i = 0; i < 2; i++) {
        struct object *old = rcu_xchg_pointer(&current, make());
        synchronize_rcu();
        free(old);
    }
    return unused;
}

int main(void) {
    pthread_t threads[3];
    current = make();
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, i < 2 ? reader : writer, NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    return 0;
}
