// Ends in the way that its argument names, after a violation that is reported only at the end.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
atomic_int x, y;
static volatile int turn;
static int* volatile nowhere;
static void* first(void* unused) {
    atomic_store_explicit(&x, 1, memory_order_release);
    atomic_load_explicit(&y, memory_order_acquire);
    turn = 1;
    return unused;
}
static void* second(void* unused) {
    while (turn == 0) usleep(100);
    atomic_store_explicit(&y, 1, memory_order_release);
    atomic_load_explicit(&x, memory_order_acquire);
    return unused;
}
static void own(int number) { signal(number, SIG_DFL); raise(number); }
static void last_word(void) { if (write(1, "handler", 7) != 7) abort(); }
static void in_child(void) {
    int status;
    pid_t const child = fork();
    if (child == 0) *nowhere = 1;
    exit(waitpid(child, &status, 0) == child && WTERMSIG(status) == SIGSEGV ? 5 : 6);
}
static void end(char const* how) {
    int const zero = (int)(size_t)nowhere;
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "assert")) assert(how == NULL);
    if (!strcmp(how, "fault")) *nowhere = 1;
    if (!strcmp(how, "divide")) turn /= zero;
    if (!strcmp(how, "trap")) __builtin_trap();
    if (!strcmp(how, "terminate")) kill(getpid(), SIGTERM);
    if (!strcmp(how, "interrupt")) signal(SIGINT, SIG_DFL), raise(SIGINT);  // background jobs ignore it
    if (!strcmp(how, "pipe")) { int ends[2]; if (pipe(ends) == 0) close(ends[0]), write(ends[1], "", 1); }
    if (!strcmp(how, "handler")) signal(SIGSEGV, own), *nowhere = 1;
    if (!strcmp(how, "group")) syscall(SYS_exit_group, 5);
    if (!strcmp(how, "quick")) at_quick_exit(last_word), quick_exit(5);
    if (!strcmp(how, "at once")) _exit(5);
    if (!strcmp(how, "child")) in_child();
    pause();
}
int main(int count, char** words) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    end(count > 1 ? words[1] : "");
}
