#include "engine/by_location/topic_graph.hpp"

#include <algorithm>
#include <span>

namespace fencepost {

namespace {

// Of the nodes that are looked for.
constexpr std::uint32_t no_class = UINT32_MAX;

std::uint64_t mixed(std::uint64_t hash, Word word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return (hash ^ hash >> 29) * 0xd6e8feb86659fd93u;
}

}  // namespace

EqualFutures::EqualFutures(ProgramGraph const& program, MemoryBudget& memory)
    : program_(program),
      all_(program),
      nodes_(program.size()),
      row_words_(program.node_words()),
      class_of_(memory.take(nodes_ * sizeof(Class))),
      members_(memory.take(nodes_ * sizeof(Class))),
      before_(memory.take(program.edges() * sizeof(StateNumber))),
      first_before_(memory.take((nodes_ + 1) * sizeof(std::size_t))),
      changed_(memory.take(nodes_ * sizeof(Changed))),
      moved_(memory.take(nodes_ * sizeof(StateNumber))),
      is_changed_(memory.take(nodes_)) {
    find_steps_to();
    // First by what stands in the rows: where threads stand, and what keeps the node.
    auto* const changed = changed_.as<Changed>();
    for (StateNumber n = 0; n < nodes_; ++n) {
        auto const* const row = program.node_rows()[n];
        std::uint64_t hash = 0;
        for (std::size_t i = 1; i < row_words_; ++i) hash = mixed(hash, row[i]);
        changed[n] = {hash, 0, n};
    }
    members_.as<Class>()[0] = static_cast<Class>(nodes_);
    changed_count_ = nodes_;
    split_classes();
    // Now all are to be looked at, whoever was moved.
    moved_count_ = nodes_;
    for (StateNumber n = 0; n < nodes_; ++n) moved_.as<StateNumber>()[n] = n;
}

void EqualFutures::find_steps_to() {
    auto* const first = first_before_.as<std::size_t>();
    auto* const before = before_.as<StateNumber>();
    for (std::size_t e = 0; e < all_.edges(); ++e) ++first[all_.edge(e).target];
    for (std::size_t n = 1; n <= nodes_; ++n) first[n] += first[n - 1];
    // `first` is where the next node would begin, and goes back to where its own do.
    for (auto n = static_cast<StateNumber>(nodes_); n-- > 0;) {
        for (auto e = all_.first_edge(n); e < all_.first_edge(n + 1); ++e)
            before[--first[all_.edge(e).target]] = n;
    }
}

bool EqualFutures::split() {
    if (moved_count_ == 0 || !is_worth_it()) return false;
    auto const* const moved = moved_.as<StateNumber>();
    auto const* const first = first_before_.as<std::size_t>();
    auto* const changed = changed_.as<Changed>();
    auto* const is_changed = is_changed_.as<bool>();
    changed_count_ = 0;
    auto const add = [&](StateNumber n) {
        if (std::exchange(is_changed[n], true)) return;
        changed[changed_count_++].node = n;
    };
    if (moved_count_ == nodes_) {
        for (StateNumber n = 0; n < nodes_; ++n) add(n);
    } else {
        for (std::size_t i = 0; i < moved_count_; ++i) {
            for (auto k = first[moved[i]]; k < first[moved[i] + 1]; ++k) add(before_.as<StateNumber>()[k]);
        }
    }
    for (std::size_t i = 0; i < changed_count_; ++i) {
        auto& one = changed[i];
        is_changed[one.node] = false;
        list_edges(one.node);
        one.of = class_of_.as<Class>()[one.node];
        one.edges = 0;
        for (auto word : edges_) one.edges = mixed(one.edges, word);
    }
    split_classes();
    return true;
}

// Of a class the nodes that are not changed keep its number, or else the largest part does. So numbers change
// seldom, and few nodes have to be looked at again.
void EqualFutures::split_classes() {
    auto* const members = members_.as<Class>();
    auto const all = std::span(changed_.as<Changed>(), changed_count_);
    std::ranges::sort(all, {}, [](Changed const& c) { return std::tuple(c.of, c.edges, c.node); });
    moved_count_ = 0;
    auto const end_of = [&](std::size_t from, auto same) {
        auto to = from;
        while (to < all.size() && same(all[to], all[from])) ++to;
        return to;
    };
    auto const same_class = [](auto const& a, auto const& b) { return a.of == b.of; };
    auto const same_part = [](auto const& a, auto const& b) { return a.of == b.of && a.edges == b.edges; };
    for (std::size_t from = 0; from < all.size();) {
        auto const to = end_of(from, same_class);
        auto const of = all[from].of;
        std::size_t stays = to, largest = 0;
        if (to - from == members[of]) {
            for (auto part = from; part < to; part = end_of(part, same_part)) {
                auto const size = end_of(part, same_part) - part;
                if (size > largest) stays = part;
                largest = std::max(largest, size);
            }
        }
        for (auto part = from; part < to;) {
            auto const end = end_of(part, same_part);
            if (part != stays) move(&all[part], &all[end - 1] + 1, static_cast<Class>(classes_++));
            part = end;
        }
        from = to;
    }
}

void EqualFutures::move(Changed const* first, Changed const* last, Class to) {
    auto* const members = members_.as<Class>();
    auto const count = static_cast<Class>(last - first);
    members[first->of] -= count;
    members[to] = count;
    for (; first < last; ++first) {
        class_of_.as<Class>()[first->node] = to;
        moved_.as<StateNumber>()[moved_count_++] = first->node;
    }
}

void EqualFutures::list_edges(StateNumber n) {
    edges_.clear();
    for (auto e = all_.first_edge(n); e < all_.first_edge(n + 1); ++e) {
        auto const edge = all_.edge(e);
        edges_.push_back(std::bit_cast<Word>(GraphEdge{class_of_.as<Class>()[edge.target], edge.label}));
    }
    std::ranges::sort(edges_);
    edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
}

bool EqualFutures::merge(Arena& nodes, Arena& edges) {
    if (!is_worth_it()) return false;
    // Classes in the order in which the search met them, so that neighbours stay close in memory.
    auto* const numbers = members_.as<Class>();
    auto* const class_of = class_of_.as<Class>();
    auto* const first_of = moved_.as<StateNumber>();
    std::fill_n(numbers, classes_, no_class);
    Class met = 0;
    for (StateNumber n = 0; n < nodes_; ++n) {
        auto& number = numbers[class_of[n]];
        if (number == no_class) {
            first_of[met] = n;
            number = met++;
        }
        class_of[n] = number;
    }
    for (Class c = 0; c < classes_; ++c) {
        auto const* const row = program_.node_rows()[first_of[c]];
        auto* const node = nodes.append();
        std::copy_n(row, row_words_, node);
        node[0] = edges.size();
        list_edges(first_of[c]);
        for (auto word : edges_) *edges.append() = word;
    }
    for (StateNumber n = 0; n < nodes_; ++n) {
        if (!is_like(n, nodes, edges)) return false;
    }
    return true;
}

// Whether a node has the row and the edges of its class.
bool EqualFutures::is_like(StateNumber n, Arena const& nodes, Arena const& edges) {
    TopicGraph const merged(program_, nodes, edges);
    auto const c = class_of_.as<Class>()[n];
    auto const *const row = program_.node_rows()[n], *const node = nodes[c];
    if (!std::equal(row + 1, row + row_words_, node + 1)) return false;
    list_edges(n);
    auto const first = merged.first_edge(c);
    if (merged.first_edge(c + 1) - first != edges_.size()) return false;
    for (std::size_t i = 0; i < edges_.size(); ++i) {
        if (*edges[first + i] != edges_[i]) return false;
    }
    return true;
}

}  // namespace fencepost
