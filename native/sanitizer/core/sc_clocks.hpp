// SC clocks: what must come before in S, the total order of seq_cst accesses and SC fences.
//
// An SC clock maps each location to the newest write known of it (seq-cst.md), like a location clock, but it
// is not what a thread knew at some time. K(e) of a seq_cst access e adds the one write that e reads or
// makes, and nothing else that its thread knows; that of an SC fence adds all that its thread knows as C. So
// an SC clock is two clocks over threads (clock.hpp):
//
//   accesses    how far each thread's *marked* steps are known: those that seq_cst accesses took
//   writes      how far each thread's steps are known, whatever took them
//
// This is exact. All SC clocks are joins of K's, and K grows along the seq_cst accesses and fences of a
// thread, so that whoever has one marked step of a thread has its earlier ones. The writes of a fence are a
// clock C as it is.
//
// SC clocks appear where they are needed: at threads that come after a seq_cst access or an SC fence, in
// their records (knowledge.hpp), and at the locations and objects that they use. Elsewhere they are all zero.
// Most programs have either seq_cst accesses or SC fences. One half of all SC clocks is then zero, and is
// left alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/core/clock.hpp"

namespace fencepost {

extern std::uint32_t clock_width;  // threads.hpp

// Which SC events there have been. A thread says so before others can come after the event.
struct ScEventKinds {
    bool accesses, fences;
};
extern ScEventKinds sc_events_made;

// The part of an SC clock of some width that need not be zero.
struct ScLanes {
    std::uint32_t begin, end;
};
inline ScLanes sc_lanes(std::uint32_t width) {
    bool const accesses = __atomic_load_n(&sc_events_made.accesses, __ATOMIC_RELAXED),
               fences = __atomic_load_n(&sc_events_made.fences, __ATOMIC_RELAXED);
    return {accesses ? 0 : width, fences ? 2 * width : width};
}
inline void note_sc_event(bool& kind) {
    if (!__atomic_load_n(&kind, __ATOMIC_RELAXED)) [[unlikely]]
        __atomic_store_n(&kind, true, __ATOMIC_RELAXED);
}

struct ScClock {
    Time* accesses;
    std::uint32_t width;

    Time* writes() const { return accesses + width; }
    ScLanes lanes() const { return sc_lanes(width); }
};

// Where one is wider, a slot has just come into use of which the other one knows nothing yet.
bool join_of_other_width(ScClock into, ScClock from, ScLanes of_from);

inline bool join(ScClock into, ScClock from, ScLanes of_from) {
    if (into.width != from.width) [[unlikely]]
        return join_of_other_width(into, from, of_from);
    return join(into.accesses + of_from.begin, from.accesses + of_from.begin, of_from.end - of_from.begin);
}
inline bool join(ScClock into, ScClock from) {
    return join(into, from, from.lanes());
}

// Does `other` know anything that `clock` does not? Both are of one width.
inline bool ahead(ScClock other, ScClock clock) {
    ScLanes const used = clock.lanes();
    return ahead(other.accesses + used.begin, clock.accesses + used.begin, used.end - used.begin);
}

// The part of one slot.
inline void join_slot(ScClock into, ScClock from, Slot slot) {
    if (slot >= from.width) return;
    Time &access = into.accesses[slot], &write = into.writes()[slot];
    if (access < from.accesses[slot]) access = from.accesses[slot];
    if (write < from.writes()[slot]) write = from.writes()[slot];
}

// Both are of one width, and the rest of them is zero.
inline void copy(ScClock into, ScClock from, ScLanes used) {
    copy(into.accesses + used.begin, from.accesses + used.begin, used.end - used.begin);
}
inline void copy(ScClock into, ScClock from) {
    copy(into, from, from.lanes());
}

// Several of one width, in one block. Null: all are zero.
class ScClocks {
  public:
    // Makes them if there are none, and makes room for all slots in use. `room` is for those of the smallest
    // width.
    static ScClocks& ready(ScClocks*& clocks, std::uint32_t count, void* room = nullptr) {
        if (clocks == nullptr || clocks->width_ < clock_width) [[unlikely]]
            make_ready(clocks, count, room);
        return *clocks;
    }
    static void release(ScClocks*& clocks);

    std::uint32_t width() const { return width_; }
    ScClock operator[](std::uint32_t i) { return {times_ + std::size_t{2} * width_ * i, width_}; }
    std::uint32_t count() const { return count_; }
    static constexpr std::size_t bytes(std::uint32_t count, std::uint32_t width) {
        return 16 + std::size_t{2} * count * width * sizeof(Time);
    }
    void clear() { __builtin_memset(times_, 0, std::size_t{2} * count_ * width_ * sizeof(Time)); }
    void clear(std::uint32_t i) {
        __builtin_memset((*this)[i].accesses, 0, std::size_t{2} * width_ * sizeof(Time));
    }

  private:
    static void make_ready(ScClocks*& clocks, std::uint32_t count, void* room);
    static ScClocks* make(std::uint32_t count, std::uint32_t width, void* room);

    std::uint32_t count_ : 31;
    std::uint32_t has_room_ : 1;  // elsewhere, and is not released
    std::uint32_t width_;
    alignas(16) Time times_[];
};
static_assert(sizeof(ScClocks) == 16);

// Those of a thread: P, F and E of seq-cst.md, each as of now, and what an acquire fence will add to it. As
// of the last release fence they are in a record.
//
// P and F know no more than E and C together: K of an SC fence is E and C, that of a seq_cst access adds to P
// what E and C learn by the access, and P and F pass on no farther than E and C do. So much can be left out:
//   - E is only there for K of fences, which may be made of P, F, E and C after the acquire part of the
//   fence.
//     So E need not have what P or F has. Seq_cst accesses add nothing to it: what they would add is in P,
//     except in the message of the access itself, and whoever reads that learns it from the location. After
//     an SC fence it is empty.
//   - P need not have the K of SC fences that strongly happen before: F has it, and wherever P counts or
//   goes,
//     to checks, locations, fences and messages, F does too.
enum ThreadClock : std::uint32_t {
    strongly_before,  // P: K of seq_cst accesses that strongly happen before the thread's next event
    strongly_before_pending,
    fences_before,  // F: K of SC fences that happen before it
    fences_before_pending,
    eco_before,  // E: K of what is eco-before an access that happens before it, if P, F and C do not have it
    eco_before_pending,
    thread_clocks
};

// Those that travel with C, in a record and at a synchronisation object.
enum MessageClock : std::uint32_t { message_p, message_f, message_e, message_clocks };

// Those of a location. KW and KFW of seq-cst.md are one here, and so are KR and KFR: they are only used
// together.
enum LocationClock : std::uint32_t {
    before_reads,   // K of seq_cst accesses eco-before the next read, and F of all writers
    before_writes,  // besides, for the next write: of those that have read the newest write, and their F
    location_clocks
};

}  // namespace fencepost
