// Tells who watches plain accesses of synchronisation: in mode races ThreadSanitizer, in mode full our own
// detector (races/happens_before.hpp). In mode atomics all functions here are empty.
//
// ThreadSanitizer does not know fences, and it lets a release sequence go on where C++20 ends it. So it gets
// the atomics as relaxed (races/memory.hpp), and here exactly what C++20 says of happens-before (intro.races,
// atomics.order, atomics.fences). Its clock of a thread is C of design.md, section 7; W[x], A and R are kept
// here:
//
//   snapshot           what a thread knew at a moment (races/snapshots.hpp)
//   message W[x]       the snapshots that the newest write of x carries, at most one per thread
//   read               acquire: acquires from W[x], before the access; relaxed: A ⊔= W[x]
//   write              release: W[x] = a new snapshot, which knows the write too; relaxed: W[x] = R
//   RMW                both, but what W[x] carried before is kept: a release sequence
//   acquire fence      acquires from A
//   release fence      R = a new snapshot
//   SC fence           acquire fence and release fence
//   seq_cst access     as acquire and release
//
// The snapshot of a release write lies under the address of x itself, if possible: ThreadSanitizer is given
// the write as a release and does both at once. A store replaces what lay there before; a read-modify-write
// adds to it, so the thread must know that already. Neither is possible while a thread has read it by a
// relaxed read and may come to an acquire fence: then the snapshot gets an address of its own. The snapshot
// in place may also be old: a relaxed store ends a release sequence, but ThreadSanitizer forgets nothing.
//
// The order of SC fences and seq_cst accesses among each other is no happens-before in C++20, so
// ThreadSanitizer hears nothing of it; RC20, which models SC fences by RMWs, has more happens-before there.
#pragma once

#include <cstdint>

#include "sanitizer/core/locations.hpp"
#include "sanitizer/core/threads.hpp"
#if defined(FENCEPOST_FULL)
#include "sanitizer/races/accesses.hpp"
#include "sanitizer/races/happens_before.hpp"
#endif

namespace fencepost::races {

#if defined(FENCEPOST_RACES)

struct Carried;

// The snapshot under an address of the program, in one word.
class InPlaceSnapshot {
  public:
    InPlaceSnapshot() = default;  // none was ever there
    explicit InPlaceSnapshot(std::uint64_t word) : word_(word) {}
    InPlaceSnapshot(std::uint32_t slot, std::uint64_t number, bool counts)
        : word_(number << 18 | std::uint64_t{slot} << 2 | std::uint64_t{counts} << 1 | 1) {}

    std::uint64_t word() const { return word_; }
    std::uint32_t slot() const { return word_ >> 2 & 0xffff; }
    std::uint64_t number() const { return word_ >> 18; }
    bool counts() const { return (word_ & 2) != 0; }  // the newest write carries it
    InPlaceSnapshot not_counting() const { return InPlaceSnapshot(word_ & ~std::uint64_t{2}); }

  private:
    std::uint64_t word_ = 0;
};

// W[x] is a RaceMessage: an InPlaceSnapshot, or the address of what is carried besides. The location is
// locked wherever one is used.
inline Carried* carried(RaceMessage const& m) {
    return (m.word & 1) == 0 ? reinterpret_cast<Carried*>(m.word) : nullptr;
}
// Does it carry nothing that the owner of the slot does not know?
inline bool is_known_to(Slot slot, RaceMessage const& m) {
    if (m.word == 0) return true;
    InPlaceSnapshot const in_place(m.word);
    return carried(m) == nullptr && (!in_place.counts() || in_place.slot() == slot);
}
// Carries nothing from now on, if that is quickly done; true if it is.
inline bool clear_quickly(RaceMessage& m) {
    if (carried(m) != nullptr) return false;
    m.word = InPlaceSnapshot(m.word).not_counting().word();
    return true;
}

// Do relaxed writes of this thread publish something?
extern constinit thread_local bool has_made_release_fence [[gnu::tls_model("initial-exec")]];

// After the options have been read, before all else.
void start();
// From now on ThreadSanitizer tells us of memory that is freed.
void start_allocations();

void acquire_carried(Thread&, RaceMessage&, void* address, bool acquire);
// Before a read of the location at the address, in whatever operation.
inline void acquire_message(Thread& t, RaceMessage& m, void const volatile* address, bool acquire) {
    if (!is_known_to(t.slot, m)) acquire_carried(t, m, const_cast<void*>(address), acquire);
}

// Is ThreadSanitizer to be given a write of this kind as a release? Before it, but after `hear`.
bool releases_in_place(Thread&, RaceMessage const&, bool replaces);
inline bool publishes_in_place(Thread& t, RaceMessage const& m, bool release) {
    return release && releases_in_place(t, m, true);
}
inline bool extends_in_place(Thread& t, RaceMessage const& m, bool release) {
    return release && releases_in_place(t, m, false);
}
// After a store.
void publish_carried(Thread&, RaceMessage&, bool release, bool in_place);
inline void publish(Thread& t, RaceMessage& m, bool release, bool in_place = false) {
    if (!release && !has_made_release_fence && clear_quickly(m)) return;
    publish_carried(t, m, release, in_place);
}
// After a read-modify-write.
void extend_carried(Thread&, RaceMessage&, bool release, bool in_place);
inline void extend(Thread& t, RaceMessage& m, bool release, bool in_place = false) {
    if (release || has_made_release_fence) extend_carried(t, m, release, in_place);
}

void acquire_fence(Thread&);
void release_fence(Thread&);

#else

inline void start() {}
inline bool publishes_in_place(Thread&, RaceMessage const&, bool) {
    return false;
}
inline bool extends_in_place(Thread&, RaceMessage const&, bool) {
    return false;
}

#if defined(FENCEPOST_FULL)

inline void acquire_message(Thread& t, RaceMessage& m, void const volatile*, bool acquire) {
    acquire_message(t, m, acquire);
}
inline void publish(Thread& t, RaceMessage& m, bool release, bool) {
    publish(t, m, release);
}
inline void extend(Thread& t, RaceMessage& m, bool release, bool) {
    extend(t, m, release);
}

#else

inline void acquire_message(Thread&, RaceMessage&, void const volatile*, bool) {}
inline void publish(Thread&, RaceMessage&, bool, bool = false) {}
inline void extend(Thread&, RaceMessage&, bool, bool = false) {}
inline void acquire_fence(Thread&) {}
inline void release_fence(Thread&) {}

#endif
#endif

// What ThreadSanitizer sees by itself, and nobody needs to know in mode atomics: threads, objects that
// synchronise as a whole, and memory that is used again.
#if !defined(FENCEPOST_FULL)

inline void watch_main(Thread&) {}
inline void thread_made(Thread&, Thread&) {}
inline void thread_not_made(Thread&) {}
inline void thread_ended(Thread&) {}
inline void thread_joined(Thread&, std::uint32_t) {}
inline void forked(Thread&) {}
inline void acquire_object(Thread&, RaceMessage&) {}
inline void release_object(Thread&, RaceMessage&) {}
inline void forget_message(RaceMessage&) {}

#endif

}  // namespace fencepost::races
