#include "engine/graphs/told_graph.hpp"

#include <algorithm>

namespace fencepost {
namespace {

using Kind = GraphEvent::Kind;

// Neither choices, nor reads of a thread that waits for another value.
bool is_told(GraphEvent const& event) {
    return event.kind != Kind::choice && !event.blocked && !(event.rmw && event.writes());
}

// The events that are told, each after those before it in po ∪ rf.
std::vector<EventId> in_causal_order(ExecutionGraph const& graph) {
    std::vector<std::pair<std::uint32_t, EventId>> found;  // with the number of events before
    graph.all().for_each([&](EventId e) {
        std::uint32_t before = 0;
        graph[e].porf.for_each([&](EventId) { ++before; });
        if (is_told(graph[e])) found.emplace_back(before, e);
    });
    std::ranges::sort(found);
    std::vector<EventId> events;
    for (auto const& [before, e] : found) events.push_back(e);
    return events;
}

}  // namespace

std::vector<std::uint32_t> told_numbers(ExecutionGraph const& graph) {
    std::vector<std::uint32_t> numbers(most_events, none);
    auto const order = in_causal_order(graph);
    for (std::uint32_t n = 0; n < order.size(); ++n) numbers[order[n]] = n;
    graph.all().for_each([&](EventId e) {
        if (graph[e].rmw && graph[e].writes()) numbers[e] = numbers[graph[e].previous];
    });
    return numbers;
}

ToldGraph told(ExecutionGraph const& graph) {
    ToldGraph result;
    auto const numbers = told_numbers(graph);
    for (auto e : in_causal_order(graph)) {
        auto const& event = graph[e];
        auto const kind = event.kind == Kind::fence ? EventKind::fence
                          : event.writes()          ? EventKind::write
                                                    : EventKind::read;
        std::int64_t source = -2;
        if (event.reads()) source = event.source == initial ? -1 : std::int64_t{numbers[event.source]};
        result.events.push_back({event.thread, event.pc, kind, event.cell, event.reads() ? event.value : 0,
                                 event.writes() ? event.value : 0, source});
    }
    graph.all().for_each([&](EventId e) {
        if (!graph[e].rmw || !graph[e].writes()) return;
        auto& whole = result.events[numbers[e]];
        whole.kind = EventKind::read_modify_write;
        whole.written = graph[e].value;
    });
    for (std::uint32_t x = 0; x < graph.cells(); ++x) {
        auto& order = result.mo.emplace_back();
        for (auto w = graph.cell(x).oldest; w != nothing; w = graph[w].newer) order.push_back(numbers[w]);
    }
    return result;
}

}  // namespace fencepost
