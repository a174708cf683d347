// The threads of the program as the library sees them, and how hooks enter and leave.
//
// A hook is the library's part of an atomic operation or of a call. While a thread is in a hook it holds
// locks of the library, so a signal handler that interrupts it must not enter another: atomic operations
// there are done on the bare memory (`Hook` is then false). The collector (collector.cpp) needs all threads
// outside hooks; it raises a flag that every hook looks at on entering.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

#include "sanitizer/core/clock.hpp"
#include "sanitizer/core/knowledge.hpp"
#include "sanitizer/core/sc_clocks.hpp"
#include "sanitizer/core/sc_provenance.hpp"
#include "sanitizer/core/shadow.hpp"
#include "sanitizer/system/contention_backoff.hpp"
#include "sanitizer/system/lock.hpp"

namespace fencepost {

// The last access, if it was a load or a CAS that failed: it may be one round of a loop that waits
// (await.hpp).
struct AwaitState {
    std::uintptr_t pc;  // where it returned to; 0: something else came after it
    std::uintptr_t address;
    std::uint64_t value;   // that it saw
    std::uint32_t rounds;  // after the first
    // A round that noted its read: what it read, and what the thread knew then. All zero: none did.
    bool acquired;
    Stamp written, reader;
};

// Stacks of the last places that wrote, so that the same stack need not be looked up again (stacks.hpp).
struct StackCache {
    static constexpr std::size_t size = 64;
    std::uint32_t ids[size];
};

struct RaceClocks;  // races/happens_before.hpp

// The last read of a thread that could have been of an older write: what becomes of the value?
struct LastFinding {
    struct FindingUses* uses;
    std::uintptr_t address;
    std::uint64_t value;
    std::uint64_t atomics;  // of the thread, with this one
};

// A store that the program makes after the hook of it (hooks/volatile_accesses.hpp). Size 0: there is none.
struct UnfinishedWrite {
    std::uintptr_t address;
    std::uint64_t old;  // what it overwrites
    std::uintptr_t pc;
    std::uint32_t stack, size;
};

struct Thread {
    std::uint32_t in_hook;  // read by the collector
    Slot slot;
    Time time;                 // steps taken by the slot so far
    bool changed;              // since the last SC fence: is there anything to tell?
    bool changed_by_others;    // likewise: is there more in C, P, F or E than the thread's own part?
    bool has_learned;          // something that records tell, since its newest one (knowledge.hpp)
    bool has_new_sc_clocks;    // so have P, F or E; only messages tell them
    bool unwatched;            // no slot was left for it
    bool after_fence;          // F, or what is pending of it, is not all zero
    bool after_eco;            // likewise E
    bool pends;                // P, F or E may be more after an acquire fence; else what is pending is void
    std::uint64_t sc_version;  // goes on when P or F learns of others; each thread has its own; even
    std::uint64_t stamp_word;  // its slot and its newest record

    // C, A, SC and R of design.md, section 7.
    Time* current;
    Time* acquire;
    Time* sc;
    Stamp release;
    ScClocks* sc_clocks;  // null: it comes after no seq_cst access and no SC fence

    Records records;

    std::uint64_t atomics;
    std::uint32_t unreported_steps;  // taken, but not yet told to the collector
    std::uint32_t id;                // main is 0, then as they were created
    Thread* joins;                   // whom it waits for in pthread_join
    AwaitState await;
    ScProvenance* provenance;
    LastFinding last_finding;
    StackCache stacks;
    shadow::RegionCache regions;
    RaceClocks* race_clocks;  // in mode full, while its plain accesses are watched

    enum class State : std::uint8_t { unused, made, running, ended } state;
    bool detached;
    bool scheduled;  // its creator was under a schedule
    bool is_fiber;   // the program switches between it and others itself (hooks/fibers.cpp)
    bool published;  // its creator has noted its handle
    std::uint8_t destructor_rounds;
    std::int32_t tid;
    pthread_t handle;
    void* (*routine)(void*);
    void* argument;
    void* result;                          // of the routine
    bool lent;                             // its kernel thread never runs (schedule/lending.hpp)
    std::size_t stack_bytes;               // as it was asked for
    std::uint64_t signal_mask;             // that it begins with
    std::uintptr_t stack_low, stack_high;  // high is 0 if nobody has asked yet: a fiber's
    void const* stack_base;                // frame of our function that calls the thread's; null: not ours
    char name[16];
    std::uint32_t parent;
    std::uint32_t made_by;  // stack of its creation
    Thread* next;
    ContentionBackoffs backoffs;
    UnfinishedWrite unfinished;
};

extern constinit thread_local Thread* this_thread [[gnu::tls_model("initial-exec")]];
extern std::uint32_t clock_width;  // slots in use, as a multiple of `lanes`; only grows while hooks run
// Flags that every hook looks at on entering; mostly none is set.
enum Gate : std::uint32_t {
    world_stops = 1,  // the collector waits, or runs
    needs_barrier =
        2,  // the collector cannot make a barrier in all threads, so each entry needs one of its own
    finishes_writes = 4,  // some writes are finished by the next hook of their thread
};
extern std::uint32_t gate;
extern void (*finish_unfinished_write)(Thread&);

// In the main thread, once.
void start_threads();

// A thread that this library did not create meets its first hook.
Thread* adopt_thread();

inline Thread& current_thread() {
    Thread* const t = this_thread;
    return *(t != nullptr ? t : adopt_thread());
}

// P or F has learned of others.
inline void change_sc_version(Thread& t) {
    t.sc_version += 2;
}

// Its SC clocks change: makes them, or makes room for all slots in use.
inline ScClocks& ready_sc_clocks(Thread& t) {
    if (t.sc_clocks == nullptr) t.has_new_sc_clocks = true;  // its records have none
    return ScClocks::ready(t.sc_clocks, thread_clocks);
}

// Gives the thread its slot, before its first step. False if there is none left.
bool take_slot(Thread&);

// A thread about to be created by `parent`; it knows what its parent knows.
Thread* make_thread(Thread& parent);
void thread_not_made(Thread*);
// First of all in the new thread.
void thread_runs(Thread*);
// It runs wherever the program switches to it.
void fiber_begins(Thread&);
void name_thread(Thread&, char const* name);
void thread_has_ended(Thread&);
// Before pthread_join: `t` will do nothing before it knows what `child` knows. Null: it goes on as it is.
void wait_to_join(Thread& t, Thread* child);
// `t` knows all that `other` knows, as C and as SC. Nobody else may touch them.
void learn_from(Thread& t, Thread& other);
// `child` has been joined: `t` knows what it knew. Its place is free then.
void join_thread(Thread& t, Thread* child);
void detach_thread(Thread&);
Thread* find_thread(pthread_t);

void in_child_of_fork();

// Calls action(thread) for each; only while the world stands still, or with threads_lock held.
extern Lock threads_lock;
extern Thread* all_threads;

// Slots whose threads have ended. The collector makes them free when everyone knows their last step.
struct SlotState {
    Thread* owner;     // null: free, or dead
    Time last;         // of a dead one
    Time last_marked;  // step, likewise (sc_clocks.hpp)
    bool dead;
    Records records;
};
extern SlotState* slots;
extern std::uint32_t slot_count;  // ever used

// Per slot the time up to which all threads know its steps, as C; it may lag behind what they know.
//
// A thread that waits in pthread_join counts as knowing what the other thread knows, because it will before
// it does anything else. Only its signal handlers may use atomics meanwhile; what those can miss may not be
// reported.
extern Time* known_to_all;
void find_known_to_all();  // threads_lock is held

void enter_slowly(Thread&);

// At the end of a hook (collector.cpp). True if it is time to collect.
bool note_steps(Thread&);
void collect();  // not inside a hook
inline constexpr std::uint32_t steps_to_note = 64;

class Hook {
  public:
    [[gnu::always_inline]] Hook() : thread_(current_thread()), entered_(thread_.in_hook == 0) {
        if (entered_) enter(thread_);
    }
    [[gnu::always_inline]] ~Hook() {
        if (!entered_) return;
        bool const due = thread_.unreported_steps >= steps_to_note && note_steps(thread_);
        leave(thread_);
        if (due) [[unlikely]]
            collect();
    }
    Hook(Hook const&) = delete;
    Hook& operator=(Hook const&) = delete;

    // Is this a hook of its own, and not one inside another?
    explicit operator bool() const { return entered_; }
    Thread& thread() const { return thread_; }

    // In between the world may be stopped, and go on.
    static void leave(Thread& t) { __atomic_store_n(&t.in_hook, 0, __ATOMIC_RELEASE); }
    static void enter(Thread& t) {
        __atomic_store_n(&t.in_hook, 1, __ATOMIC_RELAXED);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        if (__atomic_load_n(&gate, __ATOMIC_ACQUIRE) != 0) [[unlikely]]
            enter_slowly(t);
    }

  private:
    Thread& thread_;
    bool entered_;
};

// All other threads stay outside hooks while this lives. Not inside a hook.
class StoppedWorld {
  public:
    StoppedWorld();
    ~StoppedWorld();
    StoppedWorld(StoppedWorld const&) = delete;
    StoppedWorld& operator=(StoppedWorld const&) = delete;
};

}  // namespace fencepost
