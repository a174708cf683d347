#include "sanitizer/hooks/operations.hpp"

namespace fencepost {

void do_fence(Order order, void const* frame) {
    point();
    Hook hook;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!watched(hook)) return;
    Thread& t = hook.thread();
    interrupt_await(t);
    begin_access(t, order, place_of(frame));
    if (acquires(order)) races::acquire_fence(t);
    if (releases(order)) races::release_fence(t);
    if (order == Order::seq_cst) return;
    if (acquires(order)) acquire_fence(t);
    if (releases(order)) release_fence(t);
}

}  // namespace fencepost
