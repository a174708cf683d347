// Threads that hold up a schedule: a thread keeps its turn until its next point, but it may never come to
// one, if it spins on a variable that is not atomic, or sleeps in a system call of a library that is not
// instrumented.
//
// A kernel thread of our own looks on. It interrupts a thread that has used the processor for a second
// without a step, or has slept for as long, by a signal, whose handler gives the turn to others as if the
// thread had yielded. If that has been necessary once, it is done sooner the next times. Steps that were made
// in this way do not count as progress: when there was no other for stall=SECONDS, it is reported where each
// thread stands, and the program goes on waiting.
#pragma once

#include <cstdint>

namespace fencepost::scheduler::watchdog {

// The program does not use it, block it, or wait for it.
inline constexpr int signal_number = 62;

// Once there is a second thread; further calls do nothing.
void start();
// Its kernel thread runs beside the schedule.
bool is_there();
// In the child of a fork: it is gone.
void forked();

}  // namespace fencepost::scheduler::watchdog
