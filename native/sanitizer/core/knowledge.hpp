// What threads knew, kept for others to learn.
//
// Between two moments at which a thread learns something, of its clocks C and SC only its own time goes on.
// A *record* says what it knew as C and as SC from one such moment to the next; a *stamp* is a record and a
// time: all that the thread knew then. What travels with C, the SC clocks P, F and E (sc_clocks.hpp), is in
// the record too; stamps that only tell what the thread knew as SC may have a record that is older than they
// are. Of P the thread's own part goes on with its time: its marked steps are those before the stamp's, since
// a message does not tell of its own access that it must come before in S. An SC fence before which the
// thread has learned nothing from others only adds its time to the record. So a location keeps no clocks. Its
// W, WSC and MSC (design.md, section 7) are what the threads of a few stamps knew, taken together.
//
// To know a thread's time, as C or as SC, is to know all that the thread knew then, as C or as SC: clocks are
// copied and joined as wholes, and a thread that has learned something lets its time go on before it makes a
// new record. Most often therefore a stamp is compared with a clock, and its record is not looked at.
//
// A thread drops its own records of times that everybody knows, since nobody will look at them; so does the
// collector with those that no stamp has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sanitizer/core/clock.hpp"
#include "sanitizer/core/sc_clocks.hpp"

namespace fencepost {

struct ScProvenance;

// Whoever learns from it needs the second line only, while threads are few.
struct alignas(64) Record {
    Record* next;  // of the same slot; a free one: in its list
    static constexpr std::uint8_t most_own_fences = 7;
    Time own_fence_times[most_own_fences];  // of SC fences that add nothing to F but these times
    ScLanes sc_lanes;                       // the part of P, F and E that is kept; the rest is zero
    bool held;                              // for the collector: by some stamp

    alignas(64) ScProvenance const* provenance;
    Time from;
    std::uint32_t thread;
    std::uint32_t links;   // that the thread had made (sc_provenance.hpp)
    std::uint32_t fences;  // likewise
    std::uint16_t width;
    bool has_sc_clocks;
    bool after_fence;         // F is not all zero: it is kept
    bool after_eco;           // likewise E
    std::uint8_t own_fences;  // how many
    alignas(16) Time clocks[];

    // Without the thread's own time, which is in the stamp.
    Time* current() { return clocks; }
    Time* sc() { return clocks + width; }
    Time const* current() const { return clocks; }
    Time const* sc() const { return clocks + width; }

    // P, F and E, if it has them.
    ScClock message(MessageClock which) { return {clocks + 2 * width * (1 + which), width}; }
    bool has(MessageClock which) const {
        return has_sc_clocks && (which == message_p || (which == message_f ? after_fence : after_eco));
    }
    // The last one; others may look for an earlier one meanwhile.
    Time own_fence_before(Time time) const {
        for (std::uint8_t i = __atomic_load_n(&own_fences, __ATOMIC_ACQUIRE); i > 0; --i)
            if (own_fence_times[i - 1] < time) return own_fence_times[i - 1];
        return 0;
    }
    // False: there is no room for it.
    bool add_own_fence(Time time) {
        if (own_fences == most_own_fences) return false;
        own_fence_times[own_fences] = time;
        __atomic_store_n(&own_fences, static_cast<std::uint8_t>(own_fences + 1), __ATOMIC_RELEASE);
        return true;
    }

    static std::size_t bytes(std::uint32_t width, bool has_sc_clocks) {
        return offsetof(Record, clocks) + (has_sc_clocks ? 2 + 2 * message_clocks : 2) * width * sizeof(Time);
    }
};

// The records of a slot, oldest first.
struct Records {
    Record* oldest;
    Record* newest;
    Record* free;
};

// Record and slot in one word: addresses have 48 bits. Twelve bytes, so that many fit into a cell.
class [[gnu::packed, gnu::aligned(4)]] Stamp {
  public:
    Stamp() = default;  // all zero: a time that everybody knows
    Stamp(std::uint64_t word, Time time) : word_(word), time_(time) {}
    static std::uint64_t word_of(Slot slot, Record const* record) {
        return reinterpret_cast<std::uintptr_t>(record) | std::uint64_t{slot} << 48;
    }

    bool operator==(Stamp const& other) const { return word_ == other.word_ && time_ == other.time_; }

    Slot slot() const { return static_cast<Slot>(word_ >> 48); }
    Time time() const { return time_; }
    Record& record() const { return *reinterpret_cast<Record*>(word_ << 16 >> 16); }
    bool known_to(Time const* clock) const { return clock[slot()] >= time_; }

    // For the collector.
    void rename(Time time) { time_ = time; }

  private:
    std::uint64_t word_;
    Time time_;
};
static_assert(sizeof(Stamp) == 12);

// Several stamps, each with something that goes with it. All zero: none.
template <class Entry>
class Stamps {
  public:
    std::span<Entry> all() const {
        return list_ == nullptr ? std::span<Entry>() : std::span(list_->entries, list_->count);
    }
    void clear() {
        if (list_ != nullptr) list_->count = 0;
    }
    void add(Entry const&);
    void release();

  private:
    struct List {
        std::uint32_t count, capacity;
        Entry entries[];
    };
    static List* make(std::uint32_t least);

    List* list_;
};

struct Thread;

// How many records there are, in use or free.
extern std::int64_t record_count;

// Records what the thread knows now. Its time must be newer than when it knew less.
void make_record(Thread&);
// Back to the system's memory.
void release_record(Record*);

}  // namespace fencepost
