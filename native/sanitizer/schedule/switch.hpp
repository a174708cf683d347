// How the processor passes from one thread of a schedule to the next. Threads are real pthreads, so their
// stacks, thread-local storage and identity are the C library's.
//
//   user space   one kernel thread, the carrier, runs them all: it exchanges the callee-saved registers, the
//                stack pointer and the FS base, which is where a thread's TLS is. The kernel threads of the
//                others are parked with all signals blocked, so that signals to the process reach the
//                carrier. When a thread ends, its own kernel thread takes it back; if that was the carrier,
//                the next thread's becomes it.
//   futexes      each kernel thread runs its own thread and sleeps until it is its turn.
#pragma once

#include <cstdint>

namespace fencepost::scheduler {

// What is kept of a thread that does not run. The assembly in schedule/switch.cpp knows the first five.
struct Fiber {
    void* stack_pointer;
    std::uint64_t fs_base;
    void* parking_stack;   // where the kernel thread waits; its highest address
    std::uint32_t turn;    // 1: the kernel thread may go on with this fiber
    std::uint32_t parked;  // 1: the fiber can be switched to
    std::int32_t tid;      // its own kernel thread
    std::uint64_t signal_mask;
};

bool user_space_switching();

// In the first thread, before any other call. User space is taken where processor and kernel allow it.
void start_fibers(Fiber& self, bool prefer_futexes);

// In a new thread: waits for its first turn. In the thread that made it: waits until it waits.
void await_first_turn(Fiber& self);
void await_parked(Fiber& child);

// The kernel thread that runs it when it is its turn.
std::int32_t kernel_thread_of(Fiber const&);

// Lets `to` run; returns when `from` is switched to again.
void switch_fibers(Fiber& from, Fiber& to);

// `from` has left the schedule and `to` runs; returns in the kernel thread of `from`, beside the schedule.
void leave_fibers(Fiber& from, Fiber& to);

// In the child of a fork.
void only_fiber(Fiber& self);

// The signal mask of the running thread has been changed by the program or the kernel; it is to be what it
// was when it last did so.
void signal_mask_changed(Fiber& self);
void apply_signal_mask(Fiber const& self);

}  // namespace fencepost::scheduler
