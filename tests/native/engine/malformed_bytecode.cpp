// Random bytes as bytecode: each program is refused, or all its execution graphs are enumerated, up to a
// limit. `make fuzz-bytecode` lets libFuzzer choose the bytes, and tries all searches.
//
// links: engine/program/bytecode.cpp engine/program/control_flow.cpp engine/machine/evaluate.cpp
// links: engine/graphs/consistency.cpp engine/graphs/enumeration.cpp engine/graphs/event_maker.cpp
// links: engine/graphs/execution_graph.cpp engine/graphs/order_of_sc.cpp engine/graphs/thread_steps.cpp
// links: engine/graphs/told_graph.cpp engine/state/layout.cpp
#include <stdexcept>
#include <vector>

#include "engine/graphs/enumeration.hpp"
#include "tests/native/bytecode_input.hpp"
#include "tests/native/check.hpp"

using namespace fencepost;

int main() {
    int refused = 0, searched = 0;
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        Chance chance(seed);
        std::vector<std::uint8_t> bytes(40 + chance.below(200));
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(chance.below(256));
        fuzz::Input in(bytes.data(), bytes.size());
        try {
            auto const program = fuzz::program_of(in);
            EnumerationOptions options;
            options.limits = {200, 5.0, std::size_t{1} << 26};
            enumerate_graphs(program, static_cast<GraphModel>(chance.below(6)), {}, options, {}, {});
            ++searched;
        } catch (std::logic_error const&) {
            ++refused;
        }
    }
    CHECK(refused > 100);
    CHECK(searched > 100);
    return 0;
}
