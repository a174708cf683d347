// The enumeration of execution graphs, for Python.
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "engine/graphs/enumeration.hpp"
#include "engine/python/bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace fencepost {
namespace {

using OnEnd = nb::typed<nb::callable, bool(std::vector<Value>)>;

EndWatcher end_watcher_for(std::optional<OnEnd> on_end) {
    if (!on_end) return {};
    return [on_end = std::move(on_end)](std::vector<Value> const& values) {
        nb::gil_scoped_acquire gil;
        nb::object const stop = (*on_end)(values);
        return PyObject_IsTrue(stop.ptr()) == 1;
    };
}

Observed checked(Program const& program,
                 std::vector<std::pair<std::uint32_t, std::uint32_t>> const& registers,
                 std::vector<std::uint32_t> const& cells) {
    Observed observed;
    for (auto const& [t, reg] : registers) {
        if (t >= program.threads.size() || reg >= program.threads[t].registers)
            throw std::invalid_argument("register of another program");
        observed.registers.push_back({t, reg});
    }
    for (auto x : cells) {
        if (x >= program.cells.size()) throw std::invalid_argument("cell of another program");
        observed.cells.push_back(x);
    }
    return observed;
}

Enumeration enumerate_releasing_gil(Program const& program, GraphModel model,
                                    std::vector<std::pair<std::uint32_t, std::uint32_t>> const& registers,
                                    std::vector<std::uint32_t> const& cells, std::uint32_t unroll,
                                    bool find_races, bool stop_at_failure, bool all_leaves,
                                    std::optional<OnEnd> on_end, std::uint64_t most_states,
                                    double most_seconds, std::size_t most_bytes,
                                    std::optional<Report> report) {
    auto const observed = checked(program, registers, cells);
    auto const watcher = watcher_for(std::move(report));
    auto const end_watcher = end_watcher_for(std::move(on_end));
    EnumerationOptions const options{
        unroll, find_races, stop_at_failure, all_leaves, {most_states, most_seconds, most_bytes}};
    nb::gil_scoped_release release;
    return enumerate_graphs(program, model, observed, options, watcher, end_watcher);
}

}  // namespace

void bind_enumeration(nb::module_& m) {
    nb::enum_<GraphModel>(m, "GraphModel")
        .value("SC", GraphModel::sc)
        .value("TSO", GraphModel::tso)
        .value("SRA", GraphModel::sra)
        .value("RA", GraphModel::ra)
        .value("RC20", GraphModel::rc20)
        .value("CPP20", GraphModel::cpp20);
    nb::class_<ToldGraph::Told>(m, "ToldEvent")
        .def_ro("thread", &ToldGraph::Told::thread)
        .def_ro("pc", &ToldGraph::Told::pc)
        .def_ro("kind", &ToldGraph::Told::kind)
        .def_ro("cell", &ToldGraph::Told::cell)
        .def_ro("read", &ToldGraph::Told::read)
        .def_ro("written", &ToldGraph::Told::written)
        .def_ro("source", &ToldGraph::Told::source);
    nb::class_<ToldGraph>(m, "ToldGraph").def_ro("events", &ToldGraph::events).def_ro("mo", &ToldGraph::mo);
    nb::class_<FoundEnd>(m, "FoundEnd")
        .def_ro("values", &FoundEnd::values)
        .def_ro("graphs", &FoundEnd::graphs)
        .def_ro("graph", &FoundEnd::graph);
    nb::class_<FoundRace>(m, "FoundRace")
        .def_ro("graph", &FoundRace::graph)
        .def_ro("first", &FoundRace::first)
        .def_ro("second", &FoundRace::second);
    nb::class_<FoundFailure>(m, "FoundFailure")
        .def_ro("graph", &FoundFailure::graph)
        .def_ro("failure", &FoundFailure::failure);
    nb::class_<Enumeration>(m, "Enumeration")
        .def_ro("outcome", &Enumeration::outcome)
        .def_ro("truncated", &Enumeration::truncated)
        .def_ro("steps", &Enumeration::steps)
        .def_ro("graphs", &Enumeration::graphs)
        .def_ro("blocked", &Enumeration::blocked)
        .def_ro("seconds", &Enumeration::seconds)
        .def_ro("ends", &Enumeration::ends)
        .def_ro("race", &Enumeration::race)
        .def_ro("failure", &Enumeration::failure)
        .def_ro("endless_thread", &Enumeration::endless_thread)
        .def_ro("endless_pc", &Enumeration::endless_pc)
        .def_ro("endless_choices", &Enumeration::endless_choices);
    m.def("enumerate_graphs", &enumerate_releasing_gil, "program"_a, "model"_a, "registers"_a, "cells"_a,
          "unroll"_a, "find_races"_a, "stop_at_failure"_a, "all_leaves"_a, "on_end"_a.none(), "most_states"_a,
          "most_seconds"_a, "most_bytes"_a, "report"_a);
}

}  // namespace fencepost
