// Loops that wait, in an exploration. A thread that comes back to the same access with the same registers and
// the same stack, having read one value and written nothing, would go round for as long as it reads that
// value: it waits for another one. So a round is known by the state of the thread and the value, and from
// then on no thread in that state is let read that value, in this execution and all others: executions that
// differ in rounds alone are one.
//
// The state does not have what the loop writes to plain memory outside its stack. A loop that counts its
// rounds there, and gives up, is taken for one that waits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fencepost::scheduler {

// The thread's state at an access: `frame` is that of the function which the program called, and which has
// kept all registers that it must below that (KEEP_REGISTERS); `end` is where its stack begins. 0 if it
// cannot be told.
#if defined(__x86_64__)
#define KEEP_REGISTERS() asm volatile("" ::: "rbx", "r12", "r13", "r14", "r15")
#else
#define KEEP_REGISTERS() static_cast<void>(0)
#endif
std::uint64_t state_of_thread(std::uintptr_t pc, std::uintptr_t address, void const* frame, void const* end);

// How often a thread has made the same read since it last wrote: a loop that is not known to wait is cut at
// some time.
struct RepeatedReads {
    std::uint8_t times[256];

    void forget();
    // False if it was more than `most` times.
    bool count(std::uintptr_t pc, std::uintptr_t address, std::uint32_t most);
};

// Memory that all executions share; before the first of them.
void start_rounds();
// False if there are too many.
bool add_round(std::uint64_t state, std::uint64_t value);
bool is_round(std::uint64_t state, std::uint64_t value);
bool has_rounds(std::uint64_t state);

}  // namespace fencepost::scheduler
