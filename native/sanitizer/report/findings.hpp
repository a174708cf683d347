// Findings: which are new, which must wait until it is clear that they are no harmless rounds of a loop
// (await.hpp), and which are reported. A finding is reported once and then counted: the same kind of access
// at the same pc that misses a write at the same pc.
#pragma once

#include <cstdint>

#include "sanitizer/core/allocations.hpp"
#include "sanitizer/core/robustness.hpp"
#include "sanitizer/core/sc_provenance.hpp"
#include "sanitizer/core/stacks.hpp"
#include "sanitizer/core/threads.hpp"
#include "sanitizer/report/repairs.hpp"

namespace fencepost {

struct AccessNote {
    Access access;
    Order order;
    std::uint8_t size;
    bool has_value;  // what it read, or a store wrote
    std::uint64_t value;
    std::uintptr_t address;
    void const* frame;  // of the function of the library that the program called
};

// How often it was met, and what an older value could have done, as far as that is seen; the first that
// holds is counted. All else decides a branch or is used otherwise.
struct FindingUses {
    std::uint32_t times;
    std::uint32_t same;      // each older value was equal to the one read
    std::uint32_t compared;  // the thread's next atomic operation was a CAS of the location with the value
};

// What repairs a finding: its first occurrence, and then others, at which the access may come after the write
// by another chain. Of a finding that is met often, not all occurrences are tried.
struct FindingRepairs {
    Repairs first, all;
    std::uint32_t tried;      // occurrences that all of them remove
    std::uint32_t forgotten;  // of which no chain is remembered
    bool extended;            // there are more than the first
};

struct Finding {
    AccessNote note;
    Violation violation;
    std::uint32_t thread;
    Stack by, missed;
    Block block;  // of the heap, that it was in when it was found
    Chain chain;
    FindingRepairs repairs;
    bool reported;
    bool doubtful;  // not a finding, if its pc turns out to wait
    FindingUses uses;
    std::uint64_t step;  // of the schedule
    Finding* next;       // in its bucket
    Finding* next_held;
};

// In a hook, no lock being held.
void report(Thread&, AccessNote const&, Violation const&);

// Before a CAS: does it compare with what the thread's last finding has read?
void note_compared(Thread&, std::uintptr_t address, std::uint64_t expected);
inline void note_cas(Thread& t, std::uintptr_t address, std::uint64_t expected) {
    if (t.last_finding.uses != nullptr) [[unlikely]]
        note_compared(t, address, expected);
}

// For findings of other kinds. False: there have been so many that this one is only counted.
bool count_finding();
void count_repetition();
// Ends the process if the user wants no more than one finding.
void end_if_one_is_enough();

void start_findings();

// The process ends: tells what has been waiting, and gives the exit code that the process should have.
// Further calls change nothing.
int finish_findings(int exit_code);

// Its own library prints and counts them; here they count for the limit only. False if there are too many.
bool count_finding_of_thread_sanitizer();
void direct_reports_of_thread_sanitizer(int file);  // only where there is one
void findings_in_run();                             // of a series, that has told nothing yet
void findings_in_child_of_fork();
// In the process of an execution of an exploration, which writes where the process that plans does.
void findings_in_execution();

}  // namespace fencepost
