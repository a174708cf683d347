// What ThreadSanitizer is told of synchronisation, in mode races. In mode atomics all of this is empty.
//
// It does not know fences, so it gets the atomics as relaxed (races_memory.hpp), and here exactly what C++20
// says of happens-before (intro.races, atomics.order, atomics.fences). Its clock of a thread is C of
// design.md, section 7; W[x], A and R are kept here:
//
//   snapshot           what a thread knew at a moment. ThreadSanitizer keeps it, under an address that stands
//   for
//                      it: the thread releases there, others acquire from there
//   message W[x]       the snapshots that the newest write of x carries, at most one per thread
//   read               acquire: acquires from W[x], before the access; relaxed: A ⊔= W[x]
//   write              release: W[x] = a new snapshot, which knows the write too; relaxed: W[x] = R
//   RMW                both, but what W[x] carried before is kept: a release sequence
//   acquire fence      acquires from A
//   release fence      R = a new snapshot
//   SC fence           acquire fence and release fence
//   seq_cst access     as acquire and release
//
// The order of SC fences and seq_cst accesses among each other is no happens-before in C++20, so
// ThreadSanitizer hears nothing of it; RC20, which models SC fences by RMWs, has more happens-before there.
#pragma once

#include <cstdint>

namespace holdfast {

struct Thread;

namespace races {

#if defined(HOLDFAST_RACES)

struct Snapshot;

// W[x]; the location is locked wherever one is used. All zero: it carries nothing.
struct Message {
    Snapshot** snapshots;
    std::uint32_t count, capacity;
};

// After the options have been read, before all else.
void start();

// Before a read of the location, in whatever operation.
void hear(Thread&, Message&, bool acquire);
// After a store.
void tell(Thread&, Message&, bool release);
// After a read-modify-write.
void pass_on(Thread&, Message&, bool acquire, bool release);

void acquire_fence(Thread&);
void release_fence(Thread&);

// The location is gone.
void forget(Message&);

// While this lives, ThreadSanitizer's stack has the place that called us on top.
class Called {
  public:
    explicit Called(std::uintptr_t place);
    ~Called();
    Called(Called const&) = delete;
    Called& operator=(Called const&) = delete;
};

#else

struct Message {};
inline void start() {}
inline void hear(Thread&, Message&, bool) {}
inline void tell(Thread&, Message&, bool) {}
inline void pass_on(Thread&, Message&, bool, bool) {}
inline void acquire_fence(Thread&) {}
inline void release_fence(Thread&) {}
inline void forget(Message&) {}
struct Called {
    explicit Called(std::uintptr_t) {}
};

#endif

}  // namespace races
}  // namespace holdfast
