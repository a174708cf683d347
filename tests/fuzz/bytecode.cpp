// libFuzzer on the loader of bytecode, and on what searches do with a program that it takes.
//
//   make fuzz-bytecode SECONDS=60
//
// The input is read as numbers, each of one byte and mostly such as fit. Whatever is not refused is searched
// with small limits. A mistake is a crash, a finding of AddressSanitizer or UndefinedBehaviorSanitizer, ten
// seconds, or a gibibyte.
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "engine/by_location/explore.hpp"
#include "engine/graphs/enumeration.hpp"
#include "engine/safety/coverability.hpp"
#include "engine/safety/safety.hpp"
#include "engine/tso/tso.hpp"
#include "tests/native/bytecode_input.hpp"

using namespace fencepost;
using fuzz::Input;

namespace {

Limits const limits{200, 5.0, std::size_t{1} << 26};
Watcher const nobody;

// Can all threads stand at some nodes together?
void search_for_bad_states(Input& in, Program const& program) {
    auto const graphs = thread_graphs(program, 100, in.flag());
    if (graphs.unbuilt) return;
    BadStates bad;
    for (auto const& graph : graphs.threads) {
        auto const count = static_cast<std::uint32_t>(graph.nodes.size());
        bad.nodes.push_back({});
        if (count > 0 && in.flag()) bad.nodes.back().push_back(in.byte() % count);
    }
    auto const kind = in.byte() % 3;
    if (kind == 0) {
        ScSearch search(graphs, {bad});
        if (search.run(limits, nobody) == Outcome::violation) search.path();
    } else if (kind == 1) {
        ForwardSearch search(graphs, {bad}, 1 + in.byte() % 127);
        if (search.run(limits, nobody) == Outcome::violation) search.path();
    } else {
        Prunings const all;
        Coverability search(graphs, {bad}, all);
        if (search.run(limits, nobody) == Outcome::violation) search.path();
    }
}

void search(Input& in, Program const& program) {
    auto const kind = in.byte() % 6;
    if (kind == 0) {
        explore_tso(program, {static_cast<Criterion>(in.byte() % 3), in.flag(), none}, limits, nobody);
    } else if (kind == 1) {
        search_for_bad_states(in, program);
    } else if (kind == 2) {
        EnumerationOptions options;
        options.limits = limits;
        enumerate_graphs(program, static_cast<GraphModel>(in.byte() % 6), {}, options, {}, {});
    } else {
        SearchOptions options;
        options.order = static_cast<Order>(in.byte() % 5);
        options.store = static_cast<StoreKind>(in.byte() % 4);
        options.partial_order = in.flag();
        options.limits = limits;
        options.variation = {1, 3, 100, 4096};
        explore(program, static_cast<Model>(in.byte() % std::tuple_size_v<Models>), options, nobody);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    Input in(data, size);
    try {
        search(in, fuzz::program_of(in));
    } catch (std::logic_error const&) {  // malformed, or not a question for this search
    } catch (
        std::runtime_error const&) {  // a value out of range before the first access, for a thread's graph
    }
    return 0;
}
