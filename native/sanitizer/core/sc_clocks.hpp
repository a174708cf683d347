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
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/core/clock.hpp"

namespace fencepost {

extern std::uint32_t clock_width;  // threads.hpp

struct ScClock {
    Time* accesses;
    std::uint32_t width;

    Time* writes() const { return accesses + width; }
    std::uint32_t size() const { return 2 * width; }
    void clear() const { __builtin_memset(accesses, 0, size() * sizeof(Time)); }
};

// If one is wider, it is because a slot has just come into use of which the other one knows nothing yet.
inline bool join(ScClock into, ScClock from) {
    if (into.width == from.width) return join(into.accesses, from.accesses, from.size());
    std::uint32_t const width = into.width < from.width ? into.width : from.width;
    bool const more_accesses = join(into.accesses, from.accesses, width);
    return join(into.writes(), from.writes(), width) || more_accesses;
}

// Does `other` know anything that `clock` does not? Both are of one thread.
inline bool ahead(ScClock other, ScClock clock) {
    return ahead(other.accesses, clock.accesses, clock.size());
}

// The part of one slot.
inline void join_slot(ScClock into, ScClock from, Slot slot) {
    if (slot >= from.width) return;
    Time &access = into.accesses[slot], &write = into.writes()[slot];
    if (access < from.accesses[slot]) access = from.accesses[slot];
    if (write < from.writes()[slot]) write = from.writes()[slot];
}

inline void copy(ScClock into, ScClock from) {
    if (into.width == from.width) return copy(into.accesses, from.accesses, from.size());
    into.clear();
    join(into, from);
}

// Several of one width, in one block. Null: all are zero.
class ScClocks {
  public:
    // Makes them if there are none, and makes room for all slots in use.
    static ScClocks& ready(ScClocks*& clocks, std::uint32_t count) {
        if (clocks == nullptr || clocks->width_ < clock_width) [[unlikely]]
            make_ready(clocks, count);
        return *clocks;
    }
    static void release(ScClocks*& clocks);

    std::uint32_t width() const { return width_; }
    ScClock operator[](std::uint32_t i) { return {times_ + std::size_t{2} * width_ * i, width_}; }
    // For the collector: so many clocks of that width.
    Time* times() { return times_; }
    std::uint32_t count_of_clocks() const { return 2 * count_; }
    void clear() { __builtin_memset(times_, 0, std::size_t{2} * count_ * width_ * sizeof(Time)); }

  private:
    static void make_ready(ScClocks*& clocks, std::uint32_t count);
    static ScClocks* make(std::uint32_t count, std::uint32_t width);
    static std::size_t bytes(std::uint32_t count, std::uint32_t width) {
        return sizeof(ScClocks) + std::size_t{2} * count * width * sizeof(Time);
    }

    std::uint32_t count_, width_;
    alignas(16) Time times_[];
};

// Those of a thread: P, F and E of seq-cst.md, each as of now and as it will be after an acquire fence, and
// room for a K. As of the last release fence they are in a record.
enum ThreadClock : std::uint32_t {
    strongly_before,  // P: K of what strongly happens before the thread's next event
    strongly_before_pending,
    fences_before,  // F: K of SC fences that happen before it
    fences_before_pending,
    eco_before,  // E: K of what is eco-before an access that happens before it
    eco_before_pending,
    own,  // K of the access or fence at hand
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
