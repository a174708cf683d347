// A timer whose function runs in a thread of the C library's own, which no schedule knows of.
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

static atomic_int came;

static void note(union sigval unused) {
    (void)unused;
    atomic_store(&came, 1);
}

int main(void) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = note};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return 1;
    struct itimerspec const soon = {.it_value = {0, 1000000}};
    timer_settime(timer, 0, &soon, 0);
    while (!atomic_load(&came)) {
    }
    return 0;
}
