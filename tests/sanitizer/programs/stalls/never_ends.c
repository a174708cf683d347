// A thread that waits for ever with a mutex held; nobody sets its flag.
#include <pthread.h>
static int volatile flag;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void wait_for_flag(void) {
    while (!flag) {
    }
}
static void* holder(void* _) {
    pthread_mutex_lock(&mutex);
    wait_for_flag();
    return _;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, holder, 0);
    pthread_join(thread, 0);
    return 0;
}
