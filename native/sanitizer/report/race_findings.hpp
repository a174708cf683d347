// Data races that our own detector finds, in mode full. A race is reported once and then counted: the same
// kinds of access at the same two places, or a thread that goes on at the same address (`n++` reads and
// writes) against the same access of another.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/core/sc_provenance.hpp"
#include "sanitizer/core/stacks.hpp"
#include "sanitizer/core/threads.hpp"
#include "sanitizer/races/accesses.hpp"

namespace fencepost {

struct RaceSide {
    races::Kind kind;
    std::uint32_t thread;
    Stack stack;

    // The same words as in mode races.
    char const* what() const {
        constexpr char const* words[] = {"atomic read", "atomic write", "read", "write"};
        return words[static_cast<int>(kind)];
    }
};

struct RaceFinding {
    std::uintptr_t address;
    std::size_t size;
    RaceSide by, other;
    Chain chain;  // what passed last from the other thread to this one, under SC
    RaceFinding* next;
};

// In a hook, no lock being held.
void report_races(Thread&, races::PlainAccess const&, races::Races const&);

// The program says that races there do no harm.
void races_are_benign(void const* begin, std::size_t bytes);

void race_findings_in_child_of_fork();

}  // namespace fencepost
