// Which execution graphs a memory model allows, asked when an event is added that is last in po ∪ rf.
//
//     model   definition                     a graph without cycles stays consistent if
//     sc      models/sc.py                   the event is in no cycle of po, rf, mo and fr
//     tso     models/tso.py, as a machine    coherence by po holds, and it is in no cycle of po without
//                                            write-to-read pairs, rf between threads, mo and fr
//     sra     models/sra.py                  as ra, and it is in no cycle of hb and mo
//     ra      models/ra.py                   the write that it reads or follows is not known to be old
//     rc20    models/rc20.py                 the same, with the modes of the accesses
//     cpp20   models/cpp20.py                as rc20, and S exists (order_of_sc.hpp)
//
// In all models an RMW writes right after the write that it reads. Each model has with a graph also its part
// before any event, and allows to read the newest write and to write last in mo. The enumeration needs both.
#pragma once

#include <optional>

#include "engine/graphs/execution_graph.hpp"

namespace fencepost {

enum class GraphModel : std::uint8_t { sc, tso, sra, ra, rc20, cpp20 };

// Whether the model has the graph with its event e, which reads, or is in mo; without e the graph was
// consistent, and nothing reads from e or comes after it in its thread.
bool stays_consistent(GraphModel model, ExecutionGraph const& graph, EventId e);

// The event with which non-atomic access e races: neither is ordered before the other, and one writes. Not
// for tso, where nothing races, and sc (`sc_race`).
std::optional<EventId> race_with(ExecutionGraph const& graph, EventId e);

// Two accesses of the graph that race under SC, the one that was added first before the other.
std::optional<std::pair<EventId, EventId>> sc_race(ExecutionGraph const& graph);

}  // namespace fencepost
