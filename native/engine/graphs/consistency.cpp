#include "engine/graphs/consistency.hpp"

#include <vector>

#include "engine/graphs/order_of_sc.hpp"

namespace fencepost {
namespace {

using Kind = GraphEvent::Kind;

// The write after the one that e reads or writes: what fr and mo lead to.
EventId first_newer(ExecutionGraph const& graph, EventId e) {
    auto const& event = graph[e];
    return event.reads() ? graph.newer(event.cell, event.source) : event.newer;
}

// The thread knows no write after the one that e reads, or that e is put before, and no read of one; and no
// RMW is cut off from what it reads. Where only own events are known, this is coherence by po.
bool knows_nothing_newer(ExecutionGraph const& graph, EventId e) {
    auto const& event = graph[e];
    auto const& known = graph.known(event.previous);
    auto const first = first_newer(graph, e);
    if (event.writes() && first != nothing && graph[first].rmw) return false;
    for (auto w = first; w != nothing; w = graph[w].newer) {
        if (known.has(w) || known.meets(graph[w].readers)) return false;
    }
    return true;
}

// Everything before e in a relation, of which `visit_before(event, add)` tells the last steps.
EventSet all_before(EventId e, auto const& visit_before) {
    EventSet before;
    std::vector<EventId> open;
    auto const add = [&](EventId other) {
        if (other == nothing || other == initial || before.has(other)) return;
        before.add(other);
        open.push_back(other);
    };
    visit_before(e, add);
    while (!open.empty()) {
        auto const next = open.back();
        open.pop_back();
        visit_before(next, add);
    }
    return before;
}

// mo and fr to a write.
void before_write(ExecutionGraph const& graph, GraphEvent const& write, auto const& add) {
    add(write.older);
    graph.readers(write.cell, write.older).for_each(add);
}

// hbsc; if it is about races, only atomic accesses order other threads.
auto hbsc_step(ExecutionGraph const& graph, bool atomic_only) {
    return [&graph, atomic_only](EventId e, auto const& add) {
        auto const& event = graph[e];
        add(event.previous);
        if (atomic_only && !event.atomic) return;
        if (event.reads()) add(event.source);
        if (event.writes()) before_write(graph, event, add);
    };
}

// The order in which TSO's memory sees reads, writes and fences.
auto tso_step(ExecutionGraph const& graph) {
    return [&graph](EventId e, auto const& add) {
        auto const& event = graph[e];
        bool find_write = event.writes() || event.drains, find_read = true;
        for (auto p = event.previous; p != nothing && (find_write || find_read); p = graph[p].previous) {
            auto const& other = graph[p];
            if (other.drains) {
                add(p);
                break;
            }
            if ((other.writes() && find_write) || (other.reads() && find_read)) {
                add(p);
                (other.writes() ? find_write : find_read) = false;
            }
        }
        if (event.reads() && event.source != initial && graph[event.source].thread != event.thread)
            add(event.source);
        if (event.writes()) before_write(graph, event, add);
    };
}

// hb and mo.
auto sra_step(ExecutionGraph const& graph) {
    return [&graph](EventId e, auto const& add) {
        auto const& event = graph[e];
        event.current.for_each([&](EventId other) {
            if (other != e) add(other);
        });
        if (event.writes()) add(event.older);
    };
}

}  // namespace

bool stays_consistent(GraphModel model, ExecutionGraph const& graph, EventId e) {
    auto const first = first_newer(graph, e);
    // Nothing comes after an event placed last, neither in S.
    bool const is_last = first == nothing;
    switch (model) {
        case GraphModel::sc:
            return is_last || (!(graph[e].writes() && graph[first].rmw) &&
                               !all_before(e, hbsc_step(graph, false)).has(first));
        case GraphModel::tso:
            return is_last || (knows_nothing_newer(graph, e) && !all_before(e, tso_step(graph)).has(first));
        case GraphModel::sra:
            return is_last || (knows_nothing_newer(graph, e) &&
                               (graph[e].reads() || !all_before(e, sra_step(graph)).has(first)));
        case GraphModel::ra:
        case GraphModel::rc20:
            return is_last || knows_nothing_newer(graph, e);
        case GraphModel::cpp20:
            return is_last || (knows_nothing_newer(graph, e) && has_s(graph));
    }
    return false;
}

std::optional<EventId> race_with(ExecutionGraph const& graph, EventId e) {
    auto const& event = graph[e];
    if (event.atomic || (!event.reads() && !event.writes())) return std::nullopt;
    std::optional<EventId> found;
    auto const check = [&](EventId other) {
        if (!event.current.has(other)) found = other;
    };
    for (EventId w = initial; w != nothing; w = graph.newer(event.cell, w)) {
        if (w != initial) check(w);
        if (event.writes()) graph.readers(event.cell, w).for_each(check);
    }
    return found;
}

std::optional<std::pair<EventId, EventId>> sc_race(ExecutionGraph const& graph) {
    std::optional<std::pair<EventId, EventId>> found;
    auto const is_access = [&](EventId e) { return graph[e].reads() || graph[e].writes(); };
    graph.all().for_each([&](EventId e) {
        if (graph[e].atomic || !is_access(e) || found) return;
        auto const before = all_before(e, hbsc_step(graph, true));
        graph.all().for_each([&](EventId other) {
            auto const& first = graph[other];
            if (first.atomic || !is_access(other) || first.cell != graph[e].cell) return;
            if (!first.writes() && !graph[e].writes()) return;
            if (other == e || before.has(other) || first.thread > graph[e].thread) return;
            if (!all_before(other, hbsc_step(graph, true)).has(e)) found = {other, e};
        });
    });
    return found;
}

}  // namespace fencepost
