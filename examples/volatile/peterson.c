// Peterson's mutual exclusion as it was written before C11, with volatile variables. To the compiler they are
// plain accesses; FENCEPOST_OPTIONS=volatile=relaxed takes them for relaxed atomic ones. Then the program is
// robust, thanks to its fences; with -DNO_FENCES it is not, and both threads can be inside at once.
#include <pthread.h>

#ifdef NO_FENCES
#define FENCE()
#else
#define FENCE() __sync_synchronize()
#endif

static volatile int flag[2], victim;
static int inside;

static void* enter_once(void* argument) {
    int const me = *(int*)argument;
    flag[me] = 1;
    FENCE();
    victim = me;
    FENCE();
    while (flag[1 - me] && victim == me) {
    }
    FENCE();
    ++inside;
    FENCE();
    flag[me] = 0;
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int numbers[2] = {0, 1};
    for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, enter_once, &numbers[i]);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    return inside != 2;
}
