// Threads of an exploration. Each is lent a kernel thread for its stack and its thread-local storage; the
// kernel thread itself waits for ever, because one runs all threads (switch.hpp). Some are made before the
// program begins: that saves time, and an execution that makes no kernel thread can be taken back
// (restart.hpp). A thread that ends keeps what was lent to it.
#pragma once

#include <pthread.h>

#include <cstdint>

#include "sanitizer/schedule/state.hpp"

namespace fencepost::scheduler::lending {

// Are they lent? Only where switching is in user space.
bool is_on();
void start();

// Makes kernel threads, for threads without attributes of their own.
void make(std::uint32_t count);
// How many have been lent.
std::uint32_t lent();
// All that were made, those of other attributes too.
std::uint32_t made();

// As pthread_create, for a thread in that place of the table: calls routine(argument) in it, which comes to
// `begun` and goes on there when it is the thread's turn.
int begin(detail::Thread&, pthread_t* handle, pthread_attr_t const*, void* (*routine)(void*), void* argument);
void begun(detail::Thread& self);

}  // namespace fencepost::scheduler::lending
