// The accesses to each part of memory that a later one can race with, and how a race is found (mode full).
//
// Two accesses race if they touch the same byte, at least one of them writes, not both are atomic, and
// neither happens before the other. For each granule of eight bytes there are the accesses so far, each with
// its bytes, its thread's slot and epoch (races/happens_before.hpp) and its stack. A new one
//
//   races with       every conflicting one that its thread does not know;
//   takes the place  of those that it covers: its thread knows them, and whatever conflicts with them
//                    conflicts with it. Who races with one of those then races with this one too.
//
// So nothing is forgotten that could be the only race at a byte, and one that is found is one (FastTrack,
// Flanagan and Freund, PLDI 2009, with lists in place of its two epochs). An access at a moment at which its
// thread has made the same before is found by one comparison.
//
// Only the thread whose turn it is comes here, so there are no locks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/core/threads.hpp"
#include "sanitizer/races/happens_before.hpp"

namespace fencepost::races {

enum class Kind : std::uint8_t { atomic_read, atomic_write, read, write };

constexpr bool writes(Kind kind) {
    return kind == Kind::atomic_write || kind == Kind::write;
}
constexpr bool is_atomic(Kind kind) {
    return kind == Kind::atomic_read || kind == Kind::atomic_write;
}
constexpr bool conflict(Kind a, Kind b) {
    return (writes(a) || writes(b)) && !(is_atomic(a) && is_atomic(b));
}
// Does whatever conflicts with `other` conflict with `kind` too?
constexpr bool covers(Kind kind, Kind other) {
    return (writes(kind) || !writes(other)) && (!is_atomic(kind) || is_atomic(other));
}

// In two words: bytes 8, kind 2, slot 14, epoch 40 bits; stack 32, thread 32 bits.
class Record {
  public:
    Record() = default;  // all zero: none
    Record(std::uint8_t bytes, Kind kind, std::uint64_t stamp, std::uint32_t stack, std::uint32_t thread)
        : word_(stamp << 10 | std::uint64_t{static_cast<std::uint8_t>(kind)} << 8 | bytes),
          origin_(std::uint64_t{thread} << 32 | stack) {}

    std::uint8_t bytes() const { return static_cast<std::uint8_t>(word_); }
    Kind kind() const { return static_cast<Kind>(word_ >> 8 & 3); }
    std::uint64_t stamp() const { return word_ >> 10; }
    RaceSlot slot() const { return static_cast<RaceSlot>(stamp() % most_race_slots); }
    Epoch epoch() const { return stamp() >> slot_bits; }
    std::uint32_t stack() const { return static_cast<std::uint32_t>(origin_); }
    std::uint32_t thread() const { return static_cast<std::uint32_t>(origin_ >> 32); }

    bool is_none() const { return word_ == 0; }
    void leave_out(std::uint8_t bytes) { word_ &= ~std::uint64_t{bytes}; }
    // Was the same, or more, done by the same thread at the same moment?
    bool says(std::uint8_t bytes, Kind what, std::uint64_t now) const {
        return stamp() == now && (bytes & ~word_) == 0 && covers(kind(), what);
    }

  private:
    std::uint64_t word_ = 0, origin_ = 0;

    friend struct Granule;
};
static_assert(sizeof(Record) == 16);

// Up to two records, or the address of a list of more. Two are enough for memory that one thread uses: its
// last write, and its last read if that came later.
struct RecordList;
struct Granule {
    static constexpr std::size_t most = 2;
    Record records[most];

    // No record has no bytes.
    bool has_list() const { return records[0].word_ == several; }
    RecordList* list() const { return reinterpret_cast<RecordList*>(records[0].origin_); }
    void set_list(RecordList* list) {
        records[0].word_ = several;
        records[0].origin_ = reinterpret_cast<std::uint64_t>(list);
        records[1] = {};
    }
    // Not of a list.
    std::size_t count() const { return records[0].is_none() ? 0u : records[1].is_none() ? 1u : 2u; }
    bool says(std::uint8_t bytes, Kind what, std::uint64_t now) const {
        return records[0].says(bytes, what, now) || records[1].says(bytes, what, now);
    }

  private:
    static constexpr std::uint64_t several = 1 << 8;
};

inline constexpr std::uintptr_t granule_bytes = 8;

// Shadow memory, by regions of the program's memory; pages of it appear when they are touched.
inline constexpr unsigned region_bits = 21;
inline constexpr std::uintptr_t region_bytes = std::uintptr_t{1} << region_bits;
struct AccessRegion {
    static constexpr unsigned page_bits = 12;
    Granule granules[region_bytes / granule_bytes];
    bool touched[region_bytes >> page_bits];  // is there anything in this page?

    Granule& granule(std::uintptr_t address) { return granules[address % region_bytes / granule_bytes]; }
    bool& touches(std::uintptr_t address) { return touched[address % region_bytes >> page_bits]; }
};
// Null if the address is outside what the table covers.
AccessRegion* make_access_region(std::uintptr_t address);

// The last regions, so that they need not be looked up again. Filled in hooks only; a signal handler that
// interrupts that may look.
struct AccessRegionCache {
    static constexpr std::size_t size = 64;
    struct {
        std::uintptr_t number;
        AccessRegion* region;
    } entries[size];

    // Null: it is not among them.
    AccessRegion* glimpse(std::uintptr_t address) const {
        std::uintptr_t const number = address >> region_bits;
        auto const& entry = entries[number % size];
        return entry.number == number ? entry.region : nullptr;
    }
    AccessRegion* find(std::uintptr_t address) {
        if (AccessRegion* const region = glimpse(address); region != nullptr) [[likely]]
            return region;
        std::uintptr_t const number = address >> region_bits;
        entries[number % size] = {number, make_access_region(address)};
        return entries[number % size].region;
    }
};
extern AccessRegionCache access_regions;

// What an access races with.
struct Race {
    Record with;
    std::uintptr_t address;
};
struct Races {
    static constexpr std::size_t most = 4;
    std::size_t count = 0;
    Race list[most];

    // A long access that races with another one does so at many places.
    void add(Record const& with, std::uintptr_t address) {
        for (std::size_t i = 0; i < count; ++i)
            if (list[i].with.stack() == with.stack()) return;
        if (count < most) list[count++] = {with, address};
    }
};

struct PlainAccess {
    std::uintptr_t address;
    std::size_t size;
    Kind kind;
    void const* frame;  // of the function that the program called
};

// In a hook; the thread is watched.
void note_access(Thread&, PlainAccess const&, Races&);

// Is there nothing to note about an access of so many bytes, because its thread has made it before? Not if it
// reaches beyond its granule.
[[gnu::always_inline]] inline bool is_noted(RaceClocks const& c, std::uintptr_t address, std::size_t size,
                                            Kind kind) {
    std::uintptr_t const offset = address % granule_bytes;
    if (offset + size > granule_bytes) return false;
    AccessRegion* const region = access_regions.glimpse(address);
    if (region == nullptr) return false;
    auto const bytes = static_cast<std::uint8_t>(((1u << size) - 1) << offset);
    return region->granule(address).says(bytes, kind, c.stamp);
}

// In a hook: the memory is given back, which races with whatever does not happen before it.
void check_accesses(Thread&, std::uintptr_t begin, std::size_t bytes, Races&);
// What comes there next begins anew.
void forget_accesses(std::uintptr_t begin, std::size_t bytes);

}  // namespace fencepost::races
