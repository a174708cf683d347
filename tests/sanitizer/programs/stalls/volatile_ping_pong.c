// Two threads that wait for each other by variables that are not atomic: no step is made while they spin.
//
// prints: 20
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
static int volatile ping, pong;
static atomic_int x;
static void* answer(void* _) {
    for (int i = 0; i < 10; ++i) {
        while (!ping) {
        }
        ping = 0;
        atomic_fetch_add(&x, 1);
        pong = 1;
    }
    return _;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, answer, 0);
    for (int i = 0; i < 10; ++i) {
        atomic_fetch_add(&x, 1);
        ping = 1;
        while (!pong) {
        }
        pong = 0;
    }
    pthread_join(thread, 0);
    printf("%d", x);
    return 0;
}
