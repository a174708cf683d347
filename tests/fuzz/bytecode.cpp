// libFuzzer on the loader of bytecode, and on what searches do with a program that it takes.
//
//   make fuzz-bytecode SECONDS=60
//
// Execution graphs are not enumerated here: clang 14 does not compile them. tests/native/engine does that.
//
// The input is read as numbers, each of one byte and mostly such as fit. Whatever is not refused is searched
// with small limits. A mistake is a crash, a finding of AddressSanitizer or UndefinedBehaviorSanitizer, ten
// seconds, or a gibibyte.
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "engine/by_location/explore.hpp"
#include "engine/safety/thread_graph.hpp"
#include "engine/tso/tso.hpp"
#include "tests/native/bytecode_input.hpp"

using namespace fencepost;
using fuzz::Input;

namespace {

void search(Input& in, Program const& program) {
    Limits const limits{200, 5.0, std::size_t{1} << 26};
    Watcher const nobody;
    auto const kind = in.byte() % 4;
    if (kind == 0) {
        explore_tso(program, {static_cast<Criterion>(in.byte() % 3), in.flag(), none}, limits, nobody);
    } else if (kind == 1) {
        thread_graphs(program, 100, in.flag());
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
