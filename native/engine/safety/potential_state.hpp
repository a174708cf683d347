// A state of the backward search: where each thread stands, in which phase the search is (coverability.hpp),
// and the potential of each thread, of who observes the final memory, and of the SC fences.
#pragma once

#include <vector>

#include "engine/safety/option_lists.hpp"

namespace fencepost {

struct CausalState {
    std::vector<std::uint32_t> nodes;   // per thread, then the phase
    std::vector<Potential> potentials;  // per thread, then of the observer and of the fences

    std::uint32_t threads() const { return static_cast<std::uint32_t>(nodes.size() - 1); }
    std::uint32_t phase() const { return nodes.back(); }
    void set_phase(std::uint32_t phase) { nodes.back() = phase; }
    Potential& observer() { return potentials[threads()]; }
    Potential& fences() { return potentials[threads() + 1]; }
};

}  // namespace fencepost
