// Loops that wait, in an exploration. A thread that comes back to the same access with the same registers and
// the same stack, having changed nothing, would go round for as long as it reads the same values: it waits
// for another one. So a round is known by the states in which the thread made its accesses and the last value
// that it read, and from then on no thread that has come through these states is let read that value, in
// this execution and all others: executions that differ in rounds alone are one.
//
// In a round of several accesses a thread is thus held back at the last one, although a change of what it
// read before would let it go on: another execution has that change before the read. So if nobody can go on,
// this is a deadlock only if all that was read in the round is still there.
//
// The state does not have what the loop writes to plain memory outside its stack. A loop that counts its
// rounds there, and gives up, is taken for one that waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fencepost::scheduler {

struct Operation;  // scheduler.hpp

// The thread's state at an access: `frame` is that of the function which the program called, and which has
// kept all registers that it must below that (KEEP_REGISTERS); `end` is where its stack begins. What a
// compare-exchange expects may be in none of these: what the last one has read is then passed on to the next
// in a register that nobody keeps. 0 if the state cannot be told.
#if defined(__x86_64__)
#define KEEP_REGISTERS() asm volatile("" ::: "rbx", "r12", "r13", "r14", "r15")
#else
#define KEEP_REGISTERS() static_cast<void>(0)
#endif
std::uint64_t state_of_thread(Operation const&, void const* frame, void const* end);

// The accesses of a thread since it last changed anything; the oldest of many are dropped.
struct Path {
    struct Step {
        std::uint64_t state, value;
        std::uintptr_t object;
        std::uint8_t size;
    };
    static constexpr std::uint32_t most = 32, none = UINT32_MAX;
    Step steps[most];
    std::uint32_t count;

    void forget() { count = 0; }
    void add(Step const&);
    void note_value(std::uint64_t value) { steps[count - 1].value = value; }
    std::uint64_t last_value() const { return steps[count - 1].value; }
    // The step in that state, or none.
    std::uint32_t find(std::uint64_t state) const;
    // Of a round that begins with this step and ends with the last.
    std::uint64_t key(std::uint32_t first) const;
    // The key of all known rounds that end with the last step, and the first step of any of them; 0: no
    // round.
    std::uint64_t find_round(std::uint32_t& first) const;
    // Does memory hold what was read from this step on, but for the last?
    bool still_holds(std::uint32_t first) const;
};

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
// All of it, as bytes.
std::string_view rounds_as_bytes();
// False if these are not such bytes.
bool read_rounds(std::string_view);
// False if there are too many.
bool add_round(std::uint64_t key, std::uint64_t value);
bool is_round(std::uint64_t key, std::uint64_t value);

}  // namespace fencepost::scheduler
