// Searches by eight workers, for ThreadSanitizer to watch (`make test-threads`): with one table for all, with
// states spread over the workers by their hash, and one location at a time. The answers must be those of one
// worker, and so must be the numbers of states where they do not depend on luck.
//
// Programs are made of random bytes, and some of a lock that all threads take again and again. Arguments: how
// many programs, and the first seed.
//
// links: engine/program/bytecode.cpp engine/program/control_flow.cpp engine/machine/evaluate.cpp
// links: engine/state/layout.cpp engine/state/store.cpp engine/state/store_compressed.cpp
// links: engine/state/shared_states.cpp
// links: engine/state/number_index.cpp engine/state/packed_records.cpp
// links: engine/monitors/labels.cpp engine/monitors/rules.cpp engine/monitors/topics.cpp
// links: engine/monitors/packed_monitor.cpp engine/monitors/views.cpp
// links: engine/search/persistent_sets.cpp engine/search/team.cpp
// links: engine/by_location/by_location.cpp engine/by_location/program_graph.cpp
// links: engine/by_location/topic_graph.cpp engine/by_location/future_askers.cpp
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <vector>

#include "engine/by_location/explore.hpp"
#include "engine/monitors/packed_monitor.hpp"
#include "engine/search/parallel.hpp"
#include "engine/search/shared.hpp"
#include "tests/native/bytecode_input.hpp"
#include "tests/native/check.hpp"

using namespace fencepost;

namespace {

constexpr std::uint32_t many = 8;
constexpr Model rc20{2};
int searches = 0, compressed = 0;

SearchOptions options_for(Chance& chance, std::uint32_t threads) {
    SearchOptions options;
    options.order = static_cast<Order>(chance.below(3));
    options.partial_order = chance.one_in(2);
    options.merging = chance.one_in(2);
    options.lookahead = chance.one_in(2);
    options.threads = threads;
    options.limits = {20'000, 1e300, std::size_t{1} << 28};
    return options;
}

bool is_decided(Outcome outcome) {
    return outcome == Outcome::complete || outcome == Outcome::violation;
}

template <class Search>
void compare(Search search, Chance& chance, bool same_states) {
    auto const seed = chance.word();
    Chance one(seed), other(seed);
    std::optional<Result> const alone = search(options_for(one, 1));
    std::optional<Result> const together = search(options_for(other, many));
    ++searches;
    CHECK(alone.has_value() == together.has_value());
    if (!alone || !is_decided(alone->outcome) || !is_decided(together->outcome)) return;
    CHECK(alone->outcome == together->outcome);
    if (!same_states || alone->outcome != Outcome::complete) return;
    CHECK(alone->states == together->states && alone->transitions == together->transitions);
}

template <class Store>
void search_together(Program const& program, Chance& chance) {
    Watcher const nobody;
    compare(
        [&](SearchOptions const& options) -> std::optional<Result> {
            return ParallelExplorer<PackedMonitor<Rc20>, Store>(program, options, nobody).run();
        },
        chance, !std::is_same_v<Store, AntichainStore>);
}

// The table begins so small that it grows, or so large that states are compressed, from the first on
// or after some.
void search_one_table(Program const& program, Chance& chance) {
    Watcher const nobody;
    bool const compresses = chance.one_in(3);
    auto const search = [&](SearchOptions options) -> std::optional<Result> {
        if (options.threads == 1) {
            std::optional<PersistentSets> reduction;
            if (options.partial_order) reduction.emplace(program);
            return Explorer<PackedMonitor<Rc20>, ExactStore>(program, options, std::move(reduction), nobody)
                .run();
        }
        SharedStates::Sizes sizes{16, 2};
        if (compresses) {
            sizes.slots = std::size_t{1} << 19;
            options.limits.bytes = 2 * sizes.slots * sizeof(Word) + (chance.below(4) << 9);
            options.may_compress = true;
        }
        auto result = SharedExplorer<PackedMonitor<Rc20>>(program, options, nobody, sizes).run();
        compressed += result.compressed_after.has_value();
        return result;
    };
    compare(search, chance, true);
}

void search_by_location(Program const& program, Chance& chance) {
    if (program.has_taints()) return;
    Watcher const nobody;
    compare([&](SearchOptions const& options) { return explore_by_location(program, rc20, options, nobody); },
            chance, true);
}

// So many threads take tickets, wait until they are served, and serve the next.
Program ticket_lock(std::uint32_t threads) {
    ProgramBuilder builder(3, true);
    for (int x = 0; x < 2; ++x) builder.add_cell(0, true, {0, 1, 2, 3}, false, {0, 1, 2, 3}, false);
    builder.add_cell(0, true, {}, true, {}, true);
    auto const one = builder.add_expression({{ExpressionOp::push_constant, 1}}, false);
    auto const mine = builder.add_expression({{ExpressionOp::push_register, 0}}, false);
    auto const next = builder.add_expression(
        {{ExpressionOp::push_register, 0}, {ExpressionOp::push_constant, 1}, {ExpressionOp::add, 0}}, false);
    for (std::uint32_t t = 0; t < threads; ++t) {
        builder.add_thread(1, {});
        auto const add = [&](Op op, std::optional<std::uint32_t> reg, std::uint32_t cell,
                             std::optional<std::uint32_t> first, std::vector<std::uint32_t> many_values) {
            builder.add_instruction(op, reg, cell, 1, {}, first, {}, std::move(many_values), 0, true, true,
                                    true, false, false, false, false, false);
        };
        add(Op::fetch_add, 0, 0, one, {});
        add(Op::wait, {}, 1, {}, {mine});
        add(Op::store, {}, 1, next, {});
        add(Op::go_to, {}, 0, {}, {});
    }
    return builder.finish();
}

void search_all(Program const& program, Chance& chance) {
    search_together<AntichainStore>(program, chance);
    search_together<CompressedStore>(program, chance);
    search_one_table(program, chance);
    search_by_location(program, chance);
}

}  // namespace

int main(int count, char** arguments) {
    auto const programs = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 100;
    auto const first = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 0;
    int taken = 0;
    for (std::uint64_t seed = first; seed < first + programs; ++seed) {
        Chance chance(seed);
        std::vector<std::uint8_t> bytes(60 + chance.below(200));
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(chance.below(250));
        fuzz::Input in(bytes.data(), bytes.size());
        try {
            search_all(fuzz::program_of(in), chance);
            ++taken;
        } catch (std::logic_error const&) {  // malformed
        }
    }
    for (std::uint32_t threads : {2u, 3u, 4u}) {
        Chance chance(threads);
        search_all(ticket_lock(threads), chance);
    }
    std::printf("%llu programs, %d of them taken, %d searches by %u workers, %d compressed\n",
                static_cast<unsigned long long>(programs), taken, searches, many, compressed);
    return 0;
}
