#include "engine/by_location/explore.hpp"

#include <system_error>

#include "engine/monitors/packed_monitor.hpp"
#include "engine/search/disk.hpp"
#include "engine/search/explorer.hpp"
#include "engine/search/parallel.hpp"
#include "engine/search/shared.hpp"
#include "engine/state/store_bitstate.hpp"
#include "engine/state/store_compressed.hpp"

namespace fencepost {

namespace {

template <class Monitor, class Store>
Result explore_in(Program const& program, SearchOptions const& options, Watcher const& watcher) {
    auto const alone = [&] {
        std::optional<PersistentSets> reduction;
        if (options.partial_order) reduction.emplace(program);
        return Explorer<Monitor, Store>(program, options, std::move(reduction), watcher).run();
    };
    if (options.threads <= 1 || options.order == Order::at_random) return alone();
    try {
        if constexpr (std::is_same_v<Store, ThriftyStore>) {
            return SharedExplorer<Monitor>(program, options, watcher).run();
        } else {
            return ParallelExplorer<Monitor, Store>(program, options, watcher).run();
        }
    } catch (std::system_error const&) {  // the system gives no more threads: one is enough
        return alone();
    }
}

template <class Monitor>
Result explore_with(Program const& program, SearchOptions const& options, Watcher const& watcher) {
    switch (options.store) {
        case StoreKind::maximal:
            return explore_in<Monitor, AntichainStore>(program, options, watcher);
        case StoreKind::exact:
            return explore_in<Monitor, ThriftyStore>(program, options, watcher);
        case StoreKind::compressed:
            return explore_in<Monitor, CompressedStore>(program, options, watcher);
        default: {
            auto result = explore_in<Monitor, BitstateStore>(program, options, watcher);
            if (result.outcome == Outcome::complete) result.outcome = Outcome::inexact;
            return result;
        }
    }
}

template <class Monitor>
Result explore_on_disk(Program const& program, SearchOptions const& options, Watcher const& watcher) {
    try {
        return DiskExplorer<Monitor>(program, options, watcher).run();
    } catch (DiskFailure const& failure) {  // before the search, or after it
        Result result;
        result.outcome = Outcome::disk_failure;
        result.disk_failure = failure.what();
        return result;
    }
}

}  // namespace

Result explore(Program const& program, Model model, SearchOptions const& wanted, Watcher const& watcher) {
    if (program.translation() != nullptr) {  // other searches do not lift stale values
        bool const can = wanted.order == Order::by_location && wanted.store == StoreKind::maximal &&
                         wanted.directory.empty() && !program.has_taints();
        auto result = can ? explore_by_location(program, model, wanted, watcher) : std::nullopt;
        if (result) return std::move(*result);
        Result nothing;
        nothing.outcome = Outcome::inexact;
        return nothing;
    }
    if (!wanted.directory.empty()) {
        return with_rules(model, [&]<class Rules>(Rules) {
            if constexpr (std::is_same_v<Rules, Sc>) {
                return explore_on_disk<NoMonitor>(program, wanted, watcher);
            } else {
                return explore_on_disk<PackedMonitor<Rules>>(program, wanted, watcher);
            }
        });
    }
    auto options = wanted;
    if (options.order == Order::by_location) {
        // What a tainting load teaches about one location depends on the stale values of another.
        if (!program.has_taints() &&
            (options.store == StoreKind::maximal || options.store == StoreKind::exact)) {
            if (auto result = explore_by_location(program, model, options, watcher))
                return std::move(*result);
        }
        options.order = Order::largest_first;
    }
    return with_rules(model, [&]<class Rules>(Rules) {
        if constexpr (std::is_same_v<Rules, Sc>) {
            return explore_in<NoMonitor, ThriftyStore>(program, options, watcher);
        } else {
            return explore_with<PackedMonitor<Rules>>(program, options, watcher);
        }
    });
}

std::vector<PlainState> reachable(Program const& program, std::uint64_t most_states) {
    SearchOptions options;
    options.limits.states = most_states;
    Watcher const no_watcher;
    Explorer<NoMonitor, ExactStore> explorer(program, options, std::nullopt, no_watcher);
    if (explorer.run().outcome != Outcome::complete) throw std::runtime_error("too many states");
    return explorer.plain_states();
}

}  // namespace fencepost
