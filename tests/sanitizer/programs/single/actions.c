// Asks for the actions of signals, and sets them.
#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
atomic_int seen;
static void note(int number) { (void)number; atomic_fetch_add(&seen, 1); }
int main(void) {
    struct sigaction action = {0}, old;
    assert(sigaction(SIGTERM, 0, &old) == 0 && old.sa_handler == SIG_DFL && old.sa_flags == 0);
    assert(signal(SIGTERM, note) == SIG_DFL);
    raise(SIGTERM);
    assert(atomic_load(&seen) == 1);
    assert(signal(SIGTERM, SIG_IGN) == (ONCE ? SIG_DFL : note));
    raise(SIGTERM);
    action.sa_flags = SA_NODEFER;
    assert(sigaction(SIGTERM, &action, &old) == 0 && old.sa_handler == SIG_IGN);
    assert(sigaction(SIGTERM, 0, &old) == 0 && old.sa_handler == SIG_DFL && old.sa_flags == SA_NODEFER);
    action.sa_handler = note;
    action.sa_flags = SA_RESETHAND;
    assert(sigaction(SIGABRT, &action, 0) == 0);
    raise(SIGABRT);
    assert(sigaction(SIGABRT, 0, &old) == 0 && old.sa_handler == SIG_DFL);
    assert(sigaction(SIGKILL, &action, 0) == -1);
    return 0;
}
