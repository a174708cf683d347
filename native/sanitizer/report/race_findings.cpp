#include "sanitizer/report/race_findings.hpp"

#include <new>

#include "sanitizer/report/findings.hpp"
#include "sanitizer/report/json.hpp"
#include "sanitizer/report/report_text.hpp"
#include "sanitizer/report/suppressions.hpp"
#include "sanitizer/schedule/scheduler.hpp"
#include "sanitizer/system/memory.hpp"

namespace fencepost {
namespace {

// Only the thread whose turn it is comes here.
constexpr std::size_t buckets = 256;
RaceFinding* known[buckets];

RaceFinding*& bucket_of(std::uintptr_t other) {
    return known[other % buckets];
}

struct Range {
    std::uintptr_t begin, end;
    Range const* next;
};
Range const* benign;

bool is_benign(std::uintptr_t address, std::size_t bytes) {
    for (Range const* range = benign; range != nullptr; range = range->next)
        if (address < range->end && range->begin < address + bytes) return true;
    return false;
}

bool is_same(RaceFinding const& f, RaceFinding const& other) {
    if (f.other.kind != other.other.kind || f.other.stack.pc() != other.other.stack.pc()) return false;
    bool const at_same_place = f.by.kind == other.by.kind && f.by.stack.pc() == other.by.stack.pc();
    return at_same_place || (f.by.thread == other.by.thread && f.address == other.address);
}

bool is_known(RaceFinding const& finding) {
    for (RaceFinding const* f = bucket_of(finding.other.stack.pc()); f != nullptr; f = f->next)
        if (is_same(*f, finding)) return true;
    return false;
}

std::uint64_t hash_of(RaceFinding const& f) {
    std::uint64_t hash = 1;
    for (RaceSide const* side : {&f.by, &f.other}) {
        hash = (hash ^ static_cast<std::uint64_t>(side->kind)) * 0x9e3779b97f4a7c15u;
        for (std::size_t i = 0; i < side->stack.count; ++i)
            hash = (hash ^ side->stack.frames[i]) * 0x9e3779b97f4a7c15u;
    }
    return hash;
}

void report_race(Thread& t, races::PlainAccess const& access, races::Race const& race) {
    RaceFinding const found{
        .address = race.address,
        .size = access.size,
        .by = {access.kind, t.id, walk_stack(t, access.frame, stack_depth)},
        .other = {race.with.kind(), race.with.thread(), kept_stack(race.with.stack())},
        .chain = find_last_chain(t, race.with.thread()),
        .next = bucket_of(kept_pc(race.with.stack())),
    };
    if (is_known(found)) return count_repetition();
    auto* const kept = new (memory::pages(sizeof found)) RaceFinding(found);
    bucket_of(found.other.stack.pc()) = kept;
    if (is_suppressed(found) || !scheduler::is_news(hash_of(found)) || !count_finding()) return;
    json_race(found);
    text_race(found);
    end_if_one_is_enough();
}

}  // namespace

void report_races(Thread& t, races::PlainAccess const& access, races::Races const& found) {
    for (std::size_t i = 0; i < found.count; ++i)
        if (!is_benign(found.list[i].address, 1)) report_race(t, access, found.list[i]);
}

void races_are_benign(void const* begin, std::size_t bytes) {
    auto const address = reinterpret_cast<std::uintptr_t>(begin);
    if (is_benign(address, bytes)) return;
    benign = new (memory::for_good(sizeof(Range))) Range{address, address + bytes, benign};
}

void race_findings_in_child_of_fork() {
    for (RaceFinding*& bucket : known) bucket = nullptr;
}

}  // namespace fencepost
