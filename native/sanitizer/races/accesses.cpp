#include "sanitizer/races/accesses.hpp"

#include <span>

#include "sanitizer/core/stacks.hpp"
#include "sanitizer/system/memory.hpp"

namespace fencepost::races {

AccessRegionCache access_regions;

struct RecordList {
    std::uint32_t count, capacity;
    Record records[];

    static std::size_t bytes(std::uint32_t capacity) {
        return sizeof(RecordList) + capacity * sizeof(Record);
    }
};

namespace {

constexpr unsigned root_bits = 12, middle_bits = 14;
struct Middle {
    AccessRegion* regions[std::size_t{1} << middle_bits];
};
Middle* root[std::size_t{1} << root_bits];

AccessRegion** place_of(std::uintptr_t address, bool make) {
    if (address >> (region_bits + middle_bits + root_bits) != 0) return nullptr;
    Middle*& middle = root[address >> (region_bits + middle_bits)];
    if (middle == nullptr && !make) return nullptr;
    if (middle == nullptr) middle = static_cast<Middle*>(memory::pages(sizeof(Middle)));
    return &middle->regions[(address >> region_bits) % (std::size_t{1} << middle_bits)];
}

std::span<Record> records_of(Granule& g) {
    if (g.has_list()) return {g.list()->records, g.list()->count};
    return {g.records, g.count()};
}

void release_list(RecordList* list) {
    memory::release(list, RecordList::bytes(list->capacity));
}

void clear(Granule& g) {
    if (g.has_list()) release_list(g.list());
    g = {};
}

RecordList* make_list(std::uint32_t least) {
    std::size_t const bytes = memory::usable(RecordList::bytes(least));
    auto* const list = static_cast<RecordList*>(memory::allocate(bytes));
    list->count = 0;
    list->capacity = static_cast<std::uint32_t>((bytes - sizeof(RecordList)) / sizeof(Record));
    return list;
}

// The list has no room, or there is none yet.
RecordList* enlarge_list(Granule& g, std::size_t kept) {
    RecordList* const larger = make_list(static_cast<std::uint32_t>(kept) + 2);
    for (std::size_t i = 0; i < kept; ++i) larger->records[i] = records_of(g)[i];
    if (g.has_list()) release_list(g.list());
    g.set_list(larger);
    return larger;
}

// The first `kept` records stay.
void set_records(Granule& g, std::size_t kept, Record const& added) {
    if (kept < Granule::most) {
        Record const first = kept == 0 ? added : records_of(g)[0];
        if (g.has_list()) release_list(g.list());
        g.records[0] = first;
        g.records[1] = kept == 0 ? Record{} : added;
        return;
    }
    RecordList* const list = g.has_list() && g.list()->capacity > kept ? g.list() : enlarge_list(g, kept);
    list->records[kept] = added;
    list->count = static_cast<std::uint32_t>(kept) + 1;
}

// One access, granule by granule.
class Noting {
  public:
    Noting(Thread& t, PlainAccess const& access, Races& races)
        : thread_(t), clocks_(*t.race_clocks), access_(access), races_(races) {}

    void note(Granule& g, std::uint8_t bytes, std::uintptr_t address) {
        std::span<Record> const records = records_of(g);
        for (Record const& r : records)
            if (r.says(bytes, access_.kind, clocks_.stamp)) return;
        std::size_t kept = 0;
        for (Record r : records) {
            bool const known = clocks_.knows(r.slot(), r.epoch());
            if (!known && (r.bytes() & bytes) != 0 && conflict(access_.kind, r.kind()))
                races_.add(r, address);
            if (known && covers(access_.kind, r.kind())) r.leave_out(bytes);
            if (r.bytes() != 0) records[kept++] = r;
        }
        set_records(g, kept, made(bytes));
    }

  private:
    Record made(std::uint8_t bytes) {
        if (stack_ == 0) stack_ = keep_stack(thread_, access_.frame);
        return {bytes, access_.kind, clocks_.stamp, stack_, thread_.id};
    }

    Thread& thread_;
    RaceClocks const& clocks_;
    PlainAccess const& access_;
    Races& races_;
    std::uint32_t stack_ = 0;
};

// Calls action(granule, address) for all that may hold something.
template <class Action>
void for_touched(std::uintptr_t begin, std::size_t bytes, Action action) {
    constexpr std::uintptr_t page_bytes = std::uintptr_t{1} << AccessRegion::page_bits;
    std::uintptr_t const end = begin + bytes;
    for (std::uintptr_t at = begin, next; at < end; at = next) {
        AccessRegion** const place = place_of(at, false);
        AccessRegion* const region = place == nullptr ? nullptr : *place;
        std::uintptr_t const unit = region == nullptr ? region_bytes : page_bytes;
        next = (at & ~(unit - 1)) + unit;
        if (next > end) next = end;
        if (region == nullptr || !region->touches(at)) continue;
        for (std::uintptr_t a = at & ~(granule_bytes - 1); a < next; a += granule_bytes)
            action(region->granule(a), a);
    }
}

}  // namespace

AccessRegion* make_access_region(std::uintptr_t address) {
    AccessRegion** const place = place_of(address, true);
    if (place == nullptr) return nullptr;
    if (*place == nullptr) *place = static_cast<AccessRegion*>(memory::pages(sizeof(AccessRegion)));
    return *place;
}

void note_access(Thread& t, PlainAccess const& access, Races& races) {
    Noting noting(t, access, races);
    std::uintptr_t const end = access.address + access.size;
    for (std::uintptr_t at = access.address; at < end;) {
        std::uintptr_t const offset = at % granule_bytes;
        std::uintptr_t const next = at - offset + granule_bytes < end ? at - offset + granule_bytes : end;
        auto const bytes = static_cast<std::uint8_t>(((1u << (next - at)) - 1) << offset);
        AccessRegion* const region = access_regions.find(at);
        if (region == nullptr) return;
        region->touches(at) = true;
        noting.note(region->granule(at), bytes, at);
        at = next;
    }
}

void check_accesses(Thread& t, std::uintptr_t begin, std::size_t bytes, Races& races) {
    for_touched(begin, bytes, [&](Granule& g, std::uintptr_t address) {
        for (Record const& r : records_of(g))
            if (!t.race_clocks->knows(r.slot(), r.epoch())) races.add(r, address);
    });
}

void forget_accesses(std::uintptr_t begin, std::size_t bytes) {
    for_touched(begin, bytes, [](Granule& g, std::uintptr_t) { clear(g); });
}

}  // namespace fencepost::races
