#include "sanitizer/core/sc_order.hpp"

namespace fencepost::weak {
namespace {

std::uint32_t era;                       // goes on when events become the past
std::uint32_t events = 1;                // the past is always there
ScEvents events_before[most_sc_events];  // closed

}  // namespace

std::uint32_t room_for_sc_events = most_sc_events;

void start_sc_order() {
    ++era;
    events = 1;
    events_before[past_event] = {};
}

ScEvents::Words ScEvents::words() const {
    if (era_ == era) return words_;
    bool any = false;
    for (std::uint64_t const word : words_.bits) any = any || word != 0;
    Words now{};
    if (any) now.bits[0] = std::uint64_t{1} << past_event;
    return now;
}

void ScEvents::bring_up_to_date() {
    words_ = words();
    era_ = era;
}

bool ScEvents::empty() const {
    for (std::uint64_t const word : words_.bits)
        if (word != 0) return false;
    return true;
}

bool ScEvents::has(std::uint32_t event) const {
    return (words().bits[event / 64] >> event % 64 & 1) != 0;
}

void ScEvents::add(std::uint32_t event) {
    bring_up_to_date();
    words_.bits[event / 64] |= std::uint64_t{1} << event % 64;
}

void ScEvents::add_all(ScEvents const& other) {
    bring_up_to_date();
    Words const more = other.words();
    for (std::size_t i = 0; i < count; ++i) words_.bits[i] |= more.bits[i];
}

bool ScEvents::meets(ScEvents const& other) const {
    Words const a = words(), b = other.words();
    for (std::size_t i = 0; i < count; ++i)
        if ((a.bits[i] & b.bits[i]) != 0) return true;
    return false;
}

bool make_room_for_sc_event() {
    if (events < room_for_sc_events) return false;
    start_sc_order();
    return true;
}

std::uint32_t add_sc_event(ScEvents const& after) {
    events_before[events] = with_all_before(after);
    return events++;
}

ScEvents with_all_before(ScEvents const& some) {
    ScEvents all = some;
    some.each([&](std::uint32_t event) { all.add_all(events_before[event]); });
    return all;
}

void put_before(ScEvents const& closed, ScEvents const& others) {
    if (closed.empty() || others.empty()) return;
    for (std::uint32_t event = 0; event < events; ++event)
        if (others.has(event) || events_before[event].meets(others)) events_before[event].add_all(closed);
}

}  // namespace fencepost::weak
