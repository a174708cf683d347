// Signals, and signals in their handlers, in threads that the library meets in one of these.
//
// schedules: os
// prints: 100
// ThreadSanitizer cannot: serve threads of which it was not told
#include "all.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
static atomic_int handled;
static int volatile target, over;
static void handler(int _) {
    atomic_fetch_add_explicit(&handled, 1, RELAXED);
    (void)_;
}
static void* wait_for_signals(void* _) {
    target = (int)syscall(SYS_gettid);
    while (!over);
    return _;
}
int main(void) {
    // The C library's own: nobody tells the sanitizer of these threads.
    int (*create)(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*) = NULL;
    void* const library = dlopen("libc.so.6", RTLD_LAZY);
    *(void**)&create = dlsym(library, "pthread_create");
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_NODEFER};
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    int done = 0;
    for (; done < 100; ++done) {
        pthread_t thread;
        target = over = 0;
        int const before = atomic_load_explicit(&handled, RELAXED);
        if (create(&thread, NULL, wait_for_signals, NULL) != 0) abort();
        while (!target);
        for (int i = 0; i < 20 || atomic_load_explicit(&handled, RELAXED) == before; ++i)
            syscall(SYS_tgkill, getpid(), target, i % 2 == 0 ? SIGUSR1 : SIGUSR2);
        over = 1;
        pthread_join(thread, NULL);
    }
    printf("%d", done);
    return 0;
}
