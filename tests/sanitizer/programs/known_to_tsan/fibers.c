// Two fibers on one thread. Between them nothing is ordered if the program says so at the switch.
//
// seen in: atomics full races
#include <stdatomic.h>
#include <stdlib.h>
#include <ucontext.h>
void* __tsan_get_current_fiber(void);
void* __tsan_create_fiber(unsigned);
void __tsan_destroy_fiber(void*);
void __tsan_switch_to_fiber(void*, unsigned);
void __tsan_set_fiber_name(void*, char const*);
#ifdef SILENT
#define FLAGS 1
#else
#define FLAGS 0
#endif
static ucontext_t at_home, in_fiber;
static void *home, *fiber;
static atomic_int x, y;
static int payload;
static void work(void) {
    for (int i = 0; i < 3; ++i) {
        payload = i + 1;
        atomic_store_explicit(&x, i + 1, memory_order_relaxed);
        atomic_store_explicit(&y, i + 1, memory_order_relaxed);
        __tsan_switch_to_fiber(home, FLAGS);
        swapcontext(&in_fiber, &at_home);
    }
    abort();
}
int main(void) {
    enum { bytes = 1 << 16 };
    char* const stack = malloc(bytes);
    getcontext(&in_fiber);
    in_fiber.uc_stack.ss_sp = stack;
    in_fiber.uc_stack.ss_size = bytes;
    makecontext(&in_fiber, work, 0);
    home = __tsan_get_current_fiber();
    fiber = __tsan_create_fiber(0);
    __tsan_set_fiber_name(fiber, "worker");
    int seen = 0;
    for (int i = 0; i < 3; ++i) {
        __tsan_switch_to_fiber(fiber, FLAGS);
        swapcontext(&at_home, &in_fiber);
        if (atomic_load_explicit(&y, memory_order_relaxed) == 0) abort();
        seen += atomic_load_explicit(&x, memory_order_relaxed) + payload;
    }
    __tsan_destroy_fiber(fiber);
    free(stack);
    return seen - 12;
}
