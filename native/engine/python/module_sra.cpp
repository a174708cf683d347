// Safety under SC, SRA and TSO, for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "engine/python/bindings.hpp"
#include "engine/safety/coverability.hpp"
#include "engine/safety/safety.hpp"
#include "engine/safety/tso_safety.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace fencepost {
namespace {

ThreadGraphs graphs_of(Program const& program, std::size_t most_nodes, bool failing_cas_writes) {
    nb::gil_scoped_release release;
    return thread_graphs(program, most_nodes, failing_cas_writes);
}

// Bad states as Python gives them: nodes per thread, cells with their values, and a thread with a cell.
using GivenBad =
    std::tuple<std::vector<std::vector<std::uint32_t>>, std::vector<std::pair<std::uint32_t, Value>>,
               std::optional<std::pair<std::uint32_t, std::uint32_t>>>;

std::vector<BadStates> checked(ThreadGraphs const& graphs, std::vector<GivenBad> const& given) {
    auto const require = [](bool holds) {
        if (!holds) throw std::invalid_argument("bad states of another program");
    };
    std::vector<BadStates> result;
    for (auto const& [nodes, memory, race] : given) {
        auto& bad = result.emplace_back();
        require(nodes.size() == graphs.threads.size());
        for (std::size_t t = 0; t < nodes.size(); ++t) {
            for (auto node : nodes[t]) require(node < graphs.threads[t].nodes.size());
        }
        bad.nodes = nodes;
        for (auto const& [cell, value] : memory) {
            require(cell < graphs.initial.size());
            bad.memory.push_back({cell, value});
        }
        if (race) {
            require(race->first < nodes.size() && race->second < graphs.initial.size());
            bad.race = {race->first, race->second};
        }
    }
    return result;
}

using GivenOption = std::tuple<std::uint32_t, std::uint32_t, Value, Flag>;
using GivenState =
    std::tuple<std::vector<std::uint32_t>, std::uint32_t, std::vector<std::vector<std::vector<GivenOption>>>>;

template <class Search>
std::vector<GivenState> basis_of(Search const& search) {
    std::vector<GivenState> result;
    for (auto const& state : search.basis()) {
        auto& [nodes, phase, potentials] = result.emplace_back();
        nodes = state.nodes;
        phase = state.phase;
        for (auto const& potential : state.potentials) {
            auto& lists = potentials.emplace_back();
            for (auto const& list : potential) {
                auto& options = lists.emplace_back();
                for (auto const& [source, flag] : list)
                    options.emplace_back(source.writer, source.cell, source.value, flag);
            }
        }
    }
    return result;
}

template <class Search>
Outcome run(Search& search, std::uint64_t most_states, double most_seconds, std::size_t most_bytes,
            std::optional<Report> report) {
    auto const watcher = watcher_for(std::move(report));
    nb::gil_scoped_release release;
    return search.run({most_states, most_seconds, most_bytes}, watcher);
}

void bind_graphs(nb::module_& m) {
    nb::enum_<LabelKind>(m, "LabelKind")
        .value("SILENT", LabelKind::silent)
        .value("READ", LabelKind::read)
        .value("WRITE", LabelKind::write)
        .value("READ_MODIFY_WRITE", LabelKind::read_modify_write);
    nb::class_<Label>(m, "Label")
        .def_ro("kind", &Label::kind)
        .def_ro("cell", &Label::cell)
        .def_ro("read", &Label::read)
        .def_ro("written", &Label::written);
    nb::class_<LocalNode>(m, "LocalNode")
        .def_ro("pc", &LocalNode::pc)
        .def_ro("registers", &LocalNode::registers);
    nb::class_<LocalEdge>(m, "LocalEdge")
        .def_ro("source", &LocalEdge::from)
        .def_ro("target", &LocalEdge::to)
        .def_ro("pc", &LocalEdge::pc)
        .def_ro("label", &LocalEdge::label);
    nb::class_<ThreadGraph>(m, "ThreadGraph")
        .def_ro("nodes", &ThreadGraph::nodes)
        .def_ro("initial", &ThreadGraph::initial)
        .def_ro("edges", &ThreadGraph::edges);
    nb::enum_<ThreadGraphs::Unbuilt::Why>(m, "WhyUnbuilt")
        .value("TOO_MANY_NODES", ThreadGraphs::Unbuilt::Why::too_many_nodes)
        .value("ENDLESS_LOCAL_RUN", ThreadGraphs::Unbuilt::Why::endless_local_run)
        .value("ENDLESS_CHOICES", ThreadGraphs::Unbuilt::Why::endless_choices);
    nb::class_<ThreadGraphs::Unbuilt>(m, "Unbuilt")
        .def_ro("why", &ThreadGraphs::Unbuilt::why)
        .def_ro("thread", &ThreadGraphs::Unbuilt::thread)
        .def_ro("pc", &ThreadGraphs::Unbuilt::pc);
    nb::class_<ThreadGraphs>(m, "ThreadGraphs")
        .def_ro("threads", &ThreadGraphs::threads)
        .def_ro("value_limit", &ThreadGraphs::value_limit)
        .def_ro("unbuilt", &ThreadGraphs::unbuilt);
    m.def("thread_graphs", &graphs_of, "program"_a, "most_nodes"_a, "failing_cas_writes"_a = false);
}

template <class Search>
void bind_search(nb::class_<Search>& search) {
    search.def("run", &run<Search>, "most_states"_a, "most_seconds"_a, "most_bytes"_a, "report"_a)
        .def_prop_ro("stats", &Search::stats)
        .def("path", &Search::path)
        .def("start_nodes", &Search::start_nodes);
}

// A forward search with a bound on what is on its way.
template <class Search>
nb::class_<Search> bind_bounded(nb::module_& m, char const* name) {
    nb::class_<Search> search(m, name);
    search.def(
        "__init__",
        [](Search* self, ThreadGraphs const& graphs, std::vector<GivenBad> const& bad, std::uint32_t most) {
            auto const states = checked(graphs, bad);
            nb::gil_scoped_release release;
            new (self) Search(graphs, states, most);
        },
        "graphs"_a, "bad"_a, "most"_a, nb::keep_alive<1, 2>());
    bind_search(search);
    return search;
}

void bind_forward(nb::module_& m) {
    nb::class_<ForwardStats>(m, "ForwardStats")
        .def_ro("states", &ForwardStats::states)
        .def_ro("transitions", &ForwardStats::transitions)
        .def_ro("waiting", &ForwardStats::waiting)
        .def_ro("bytes", &ForwardStats::bytes)
        .def_ro("truncated", &ForwardStats::truncated);
    bind_bounded<ForwardSearch>(m, "ForwardSearch");
    bind_bounded<TsoForwardSearch>(m, "TsoForwardSearch").def("updates", &TsoForwardSearch::updates);
    nb::class_<ScSearch> sc(m, "ScSearch");
    sc.def(
        "__init__",
        [](ScSearch* self, ThreadGraphs const& graphs, std::vector<GivenBad> const& bad) {
            auto const states = checked(graphs, bad);
            nb::gil_scoped_release release;
            new (self) ScSearch(graphs, states);
        },
        "graphs"_a, "bad"_a, nb::keep_alive<1, 2>());
    bind_search(sc);
}

template <class Search>
void bind_backward(nb::module_& m, char const* name) {
    nb::class_<Search> search(m, name);
    search
        .def(
            "__init__",
            [](Search* self, ThreadGraphs const& graphs, std::vector<GivenBad> const& bad, bool sources,
               bool pairs, bool joint, bool subsumption) {
                auto const states = checked(graphs, bad);
                nb::gil_scoped_release release;
                new (self) Search(graphs, states, {sources, pairs, joint, subsumption});
            },
            "graphs"_a, "bad"_a, nb::kw_only(), "sources"_a = true, "pairs"_a = true, "joint"_a = true,
            "subsumption"_a = true, nb::keep_alive<1, 2>())
        .def("basis", &basis_of<Search>);
    bind_search(search);
}

}  // namespace

void bind_sra(nb::module_& m) {
    bind_graphs(m);
    nb::enum_<Flag>(m, "Flag").value("R", Flag::R).value("U", Flag::U).value("S", Flag::S);
    nb::class_<RunStep>(m, "RunStep")
        .def_ro("thread", &RunStep::thread)
        .def_ro("pc", &RunStep::pc)
        .def_ro("label", &RunStep::label)
        .def_ro("to", &RunStep::to)
        .def_ro("writer", &RunStep::writer);
    nb::class_<BackwardStats>(m, "BackwardStats")
        .def_ro("transitions", &BackwardStats::transitions)
        .def_ro("states", &BackwardStats::states)
        .def_ro("basis", &BackwardStats::basis)
        .def_ro("waiting", &BackwardStats::waiting)
        .def_ro("impossible", &BackwardStats::impossible)
        .def_ro("covered", &BackwardStats::covered)
        .def_ro("longest", &BackwardStats::longest)
        .def_ro("bytes", &BackwardStats::bytes);
    bind_backward<Coverability>(m, "Coverability");
    bind_backward<TsoCoverability>(m, "TsoCoverability");
    bind_forward(m);
}

}  // namespace fencepost
