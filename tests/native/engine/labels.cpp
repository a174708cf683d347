// Labels: different events have different numbers, and fences in a row are told as one that has their effect.
//
// links: engine/monitors/labels.cpp
#include "engine/monitors/labels.hpp"

#include <array>
#include <set>
#include <vector>

#include "tests/native/check.hpp"

using namespace fencepost;

namespace {

using enum MonitorEvent::Kind;
using Fences = MonitorEvent::Fences;

bool same(MonitorEvent const& a, MonitorEvent const& b) {
    return a.kind == b.kind && a.thread == b.thread && a.cell == b.cell && a.acquire == b.acquire &&
           a.release == b.release && a.sc == b.sc && a.old.plain == b.old.plain && a.old.free == b.old.free &&
           a.fences == b.fences;
}

std::vector<MonitorEvent> many_events() {
    std::vector<MonitorEvent> all;
    for (auto kind : {read, tainting_read, write, read_modify_write, sc_fence, non_atomic_read, exchange}) {
        for (std::uint32_t thread : {0, 1, 29}) {
            for (std::uint32_t cell : {0, 1, 300}) {
                for (unsigned modes = 0; modes < 8; ++modes) {
                    for (std::uint32_t plain : {none, 0u, 1u, 1024u}) {
                        for (std::uint32_t free : {none, 0u, 1u, 1024u}) {
                            all.push_back({kind,
                                           thread,
                                           cell,
                                           (modes & 1) != 0,
                                           (modes & 2) != 0,
                                           (modes & 4) != 0,
                                           {plain, free}});
                        }
                    }
                }
            }
        }
    }
    return all;
}

void different_events_have_different_numbers() {
    Labels labels;
    std::set<LabelNumber> numbers{Labels::nothing};
    for (auto const& event : many_events()) {
        auto const label = labels.append(Labels::nothing, event);
        CHECK(numbers.insert(label).second);
        CHECK(labels.append(Labels::nothing, event) == label);
        CHECK(labels.events(label).size() == 1 && same(labels.events(label)[0], event));
        CHECK(same(*labels.first(label), event));
    }
}

// What a thread knows now, will know after an acquire fence, and knew at its last release fence: each is what
// one of them was at first, or what it knows after an SC fence.
struct Known {
    enum class What { now, pending, released, sc };
    What now = What::now, pending = What::pending, released = What::released;

    bool operator==(Known const&) const = default;
    void acquire() { now = pending; }
    void release() { released = now; }
    void pass(Fences fences) {
        switch (fences) {
            case Fences::acquire:
                return acquire();
            case Fences::release:
                return release();
            case Fences::acquire_release:
                acquire();
                return release();
            case Fences::release_acquire:
                release();
                return acquire();
            case Fences::sc:
                now = pending = released = What::sc;
        }
    }
};

void fences_in_a_row_are_one() {
    constexpr std::array single{Fences::acquire, Fences::release, Fences::acquire_release, Fences::sc};
    Labels labels;
    MonitorEvent const access{write, 1, 2};
    std::vector<std::pair<Known, LabelNumber>> met;
    for (unsigned sequence = 0; sequence < 256; ++sequence) {
        Known expected;
        auto label = labels.append(Labels::nothing, access);
        for (unsigned n = 0; n < 4; ++n) {
            MonitorEvent event{fence, 1};
            event.fences = single[sequence >> 2 * n & 3];
            expected.pass(event.fences);
            label = labels.append(label, event);
            auto const events = labels.events(label);
            CHECK(events.size() == 2 && same(events[0], access) && events[1].kind == fence);
            Known found;
            found.pass(events[1].fences);
            CHECK(found == expected);
            for (auto const& [known, number] : met) CHECK((known == expected) == (number == label));
            met.emplace_back(expected, label);
        }
    }
}

}  // namespace

int main() {
    different_events_have_different_numbers();
    fences_in_a_row_are_one();
}
