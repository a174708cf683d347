// What the parts of the Python module share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <utility>

#include "engine/search/options.hpp"

namespace fencepost {

// Adds the searches for safety to the module (module_sra.cpp).
void bind_sra(nanobind::module_& m);
// Adds the enumeration of execution graphs (module_graphs.cpp); after what it shares with other searches.
void bind_enumeration(nanobind::module_& m);

// A function of the caller that is told states, transitions, waiting states, bytes and seconds now and then;
// the search stops when it returns true.
using Report = nanobind::typed<nanobind::callable,
                               bool(std::uint64_t, std::uint64_t, std::uint64_t, std::size_t, double)>;

// Lets Python see Ctrl-C, and the caller see the progress, while a search runs without the GIL.
inline Watcher watcher_for(std::optional<Report> report) {
    namespace nb = nanobind;
    return [report = std::move(report)](Progress const& p) {
        nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) {
            PyErr_Clear();
            return true;
        }
        if (!report) return false;
        try {
            nb::object const stop = (*report)(p.states, p.transitions, p.waiting, p.bytes, p.seconds);
            return PyObject_IsTrue(stop.ptr()) == 1;
        } catch (nb::python_error& error) {
            if (error.matches(PyExc_KeyboardInterrupt)) return true;  // Ctrl-C while Python was at work
            throw;
        }
    };
}

}  // namespace fencepost
