#include "engine/safety/basis.hpp"

#include <algorithm>

#include "engine/safety/possible.hpp"

namespace fencepost {
namespace {

constexpr std::uint32_t no_option = UINT32_MAX;

std::uint64_t mixed(std::uint64_t value) {
    value *= 0x9e3779b97f4a7c15u;
    return value ^ value >> 29;
}

// The bit of an option in a signature.
std::uint64_t bit_of(std::uint32_t option) {
    return option == no_option ? 0 : std::uint64_t{1} << (mixed(option) >> 58);
}

}  // namespace

Basis::Basis(ThreadGraphs const& graphs, OptionLists const& lists, bool subsumption)
    : graphs_(graphs), lists_(lists), subsumption_(subsumption), tuples_(graphs.threads.size() + 1) {}

ItemNumber Basis::keep(PotentialState const& state, BackStep const& step) {
    auto const number = static_cast<ItemNumber>(items_.size());
    auto const tuple = tuples_.add(state.nodes).first;
    auto const options = options_of(state);
    items_.push_back({tuple, true, step, potentials_.size()});
    auto const mask = anywhere_mask(graphs_, state.nodes);
    if (std::find(masks_.begin(), masks_.end(), mask) == masks_.end()) masks_.push_back(mask);
    if (tuple == groups_.size()) groups_.emplace_back();
    group_of(tuple, options).entries.push_back({options.signature, number});
    std::size_t weight = 0;
    for (auto const& potential : state.potentials) {
        potentials_.push_back(static_cast<std::uint32_t>(potential.size()));
        for (auto list : potential) {
            potentials_.push_back(list);
            weight += lists_[list].size();
            longest_ = std::max(longest_, lists_[list].size());
        }
    }
    if (weight >= queue_.size()) queue_.resize(weight + 1);
    queue_[weight].push_back(number);
    ++kept_;
    ++waiting_;
    return number;
}

ItemNumber Basis::next() {
    for (std::size_t weight = 0; waiting_ > 0; ++weight) {
        while (!queue_[weight].empty()) {
            auto const item = queue_[weight].back();
            queue_[weight].pop_back();
            --waiting_;
            if (!is_dropped(item)) return item;
        }
    }
    return no_item;
}

std::vector<ItemNumber> Basis::minimal() {
    std::vector<ItemNumber> result;
    for (ItemNumber item = 0; item < items_.size(); ++item) {
        if (!is_dropped(item)) result.push_back(item);
    }
    return result;
}

// Drops the state if one below it has been kept since.
bool Basis::is_dropped(ItemNumber item) {
    if (!items_[item].kept) return true;
    if (!subsumption_) return false;
    auto const state = load(item);
    if (!is_covered(state, item)) return false;
    items_[item].kept = false;
    --kept_;
    std::erase_if(group_of(items_[item].tuple, options_of(state)).entries,
                  [&](Entry const& entry) { return entry.item == item; });
    return true;
}

bool Basis::is_covered(PotentialState const& state, ItemNumber except) {
    auto const mask = anywhere_mask(graphs_, state.nodes);
    auto const signature = options_of(state).signature;
    auto const flat = flattened(state);
    auto const is_under = [&](Entry const& entry) {
        if ((entry.signature & ~signature) != 0 || entry.item == except) return false;
        return subsumption_ ? is_below(saved(entry.item), flat) : is_same(saved(entry.item), flat);
    };
    for (auto wider : masks_) {
        if ((mask & ~wider) != 0 || (wider != mask && !subsumption_)) continue;
        auto const tuple = tuples_.find(widened(graphs_, state.nodes, wider));
        if (!tuple) continue;
        for (auto const& group : groups_[*tuple]) {
            if ((group.signature & ~signature) == 0 && std::ranges::any_of(group.entries, is_under))
                return true;
        }
    }
    return false;
}

Basis::Options Basis::options_of(PotentialState const& state) const {
    Options options;
    for (std::uint32_t t = 0; t < state.potentials.size(); ++t) {
        for (auto list : state.potentials[t]) {
            for (auto option : lists_[list]) {
                auto const one = option.source() * static_cast<std::uint32_t>(state.potentials.size()) + t;
                options.all.push_back(one);
                options.signature |= bit_of(one);
            }
        }
    }
    // In an order that has nothing to do with the program, so that the first two tell states apart well.
    std::sort(options.all.begin(), options.all.end(), [](auto a, auto b) { return mixed(a) < mixed(b); });
    options.all.erase(std::unique(options.all.begin(), options.all.end()), options.all.end());
    return options;
}

Basis::Group& Basis::group_of(TupleNumber tuple, Options const& options) {
    auto const& all = options.all;
    auto const first = all.empty() ? no_option : all[0], second = all.size() < 2 ? no_option : all[1];
    auto& groups = groups_[tuple];
    auto const at = std::ranges::find_if(
        groups, [&](Group const& group) { return group.first == first && group.second == second; });
    if (at != groups.end()) return *at;
    return groups.emplace_back(Group{first, second, bit_of(first) | bit_of(second), {}});
}

PotentialState Basis::load(ItemNumber item) const {
    auto const nodes = tuples_[items_[item].tuple];
    PotentialState state{{nodes.begin(), nodes.end()}, std::vector<Potential>(nodes.size() + 1)};
    auto at = saved(item);
    for (auto& potential : state.potentials) {
        auto const count = *at++;
        potential.assign(at, at + count);
        at += count;
    }
    return state;
}

Basis::Saved Basis::flattened(PotentialState const& state) {
    flat_.clear();
    for (auto const& potential : state.potentials) {
        flat_.push_back(static_cast<std::uint32_t>(potential.size()));
        flat_.insert(flat_.end(), potential.begin(), potential.end());
    }
    return flat_.data();
}

bool Basis::is_below(Saved a, Saved b) const {
    for (std::size_t holder = 0; holder < graphs_.threads.size() + 2; ++holder) {
        auto const many = *a++, count = *b++;
        for (std::uint32_t i = 0; i < many; ++i) {
            auto const list = lists_[a[i]];
            bool const found =
                std::any_of(b, b + count, [&](auto other) { return is_subsequence(list, lists_[other]); });
            if (!found) return false;
        }
        a += many;
        b += count;
    }
    return true;
}

bool Basis::is_same(Saved a, Saved b) const {
    for (std::size_t holder = 0; holder < graphs_.threads.size() + 2; ++holder) {
        if (!std::equal(a, a + *a + 1, b)) return false;
        auto const count = *a + 1;
        a += count;
        b += count;
    }
    return true;
}

std::size_t Basis::bytes() const {
    return items_.capacity() * sizeof(Item) + potentials_.capacity() * sizeof(potentials_[0]) +
           items_.size() * sizeof(Entry) + groups_.size() * sizeof(Group) + tuples_.bytes();
}

}  // namespace fencepost
