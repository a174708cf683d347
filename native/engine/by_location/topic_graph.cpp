#include "engine/by_location/topic_graph.hpp"

#include <algorithm>
#include <atomic>
#include <span>
#include <utility>

namespace fencepost {

namespace {

constexpr std::size_t nodes_of_a_task = 4096;

// Of the nodes that are looked for.
constexpr std::uint32_t no_class = UINT32_MAX;

std::uint64_t spread(std::uint64_t word) {
    word = (word + 0x632be59bd9b4e019u) * 0x9e3779b97f4a7c15u;
    word = (word ^ word >> 29) * 0xd6e8feb86659fd93u;
    return word ^ word >> 32;
}

}  // namespace

EqualFutures::EqualFutures(ProgramGraph const& program, Team& team, MemoryBudget& memory)
    : program_(program),
      team_(team),
      all_(program),
      nodes_(program.size()),
      row_words_(program.node_words()),
      class_of_(memory.take(nodes_ * sizeof(Class))),
      members_(memory.take(nodes_ * sizeof(Class))),
      largest_(memory.take(nodes_ * sizeof(std::uint32_t))),
      before_(memory.take(program.edges() * sizeof(StateNumber))),
      first_before_(memory.take((nodes_ + 1) * sizeof(std::size_t))),
      changed_(memory.take(nodes_ * sizeof(Changed))),
      is_changed_(memory.take(nodes_)),
      parts_(memory.take(nodes_ * sizeof(Part))),
      part_table_(memory.take(std::bit_ceil(2 * nodes_) * sizeof(std::uint32_t))),
      moved_(memory.take(nodes_ * sizeof(StateNumber))) {
    find_steps_to();
    // First by what stands in the rows: where threads stand, and what keeps the node.
    for (StateNumber n = 0; n < nodes_; ++n) {
        auto const hash = hash_words(program.node_rows()[n] + 1, row_words_ - 1);
        changed_.as<Changed>()[n] = {hash, n, 0};
    }
    members_.as<Class>()[0] = static_cast<Class>(nodes_);
    changed_count_ = nodes_;
    split_classes();
    // Now all are to be looked at, whoever was moved.
    moved_count_ = nodes_;
}

template <class Task>
void EqualFutures::together(std::size_t count, Task task) const {
    auto const of_rows = [&](std::size_t row) {
        auto const first = row * nodes_of_a_task;
        for (auto i = first; i < std::min(first + nodes_of_a_task, count); ++i) task(i);
    };
    auto const rows = (count + nodes_of_a_task - 1) / nodes_of_a_task;
    if (rows == 1) return of_rows(0);
    team_.each(rows, [&](std::size_t row, std::size_t) { of_rows(row); });
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
    auto* const changed = changed_.as<Changed>();
    auto* const is_changed = is_changed_.as<bool>();
    changed_count_ = 0;
    if (moved_count_ == nodes_) {
        for (StateNumber n = 0; n < nodes_; ++n) changed[changed_count_++] = {0, n, 0};
    } else {
        auto const* const first = first_before_.as<std::size_t>();
        for (std::size_t i = 0; i < moved_count_; ++i) {
            auto const to = moved_.as<StateNumber>()[i];
            for (auto k = first[to]; k < first[to + 1]; ++k) {
                auto const n = before_.as<StateNumber>()[k];
                if (std::exchange(is_changed[n], true)) continue;
                changed[changed_count_++] = {0, n, 0};
            }
        }
        for (std::size_t i = 0; i < changed_count_; ++i) is_changed[changed[i].node] = false;
    }
    together(changed_count_, [&](std::size_t i) { changed[i].edges = hash_of_edges(changed[i].node); });
    split_classes();
    return true;
}

// Of a class the nodes that are not changed keep its number, or else the largest part does. So numbers change
// seldom, and few nodes have to be looked at again.
void EqualFutures::split_classes() {
    auto* const class_of = class_of_.as<Class>();
    auto* const members = members_.as<Class>();
    auto* const largest = largest_.as<std::uint32_t>();
    auto* const parts = parts_.as<Part>();
    auto const changed = std::span(changed_.as<Changed>(), changed_count_);
    auto const slots = std::bit_ceil(2 * changed_count_);
    std::fill_n(part_table_.as<std::uint32_t>(), slots, 0);
    part_count_ = 0;
    for (auto& one : changed) {
        one.part = part_with(one.edges, class_of[one.node], slots - 1);
        ++parts[one.part].size;
    }
    // `members` of a class becomes how many of it are not changed.
    for (std::uint32_t p = 0; p < part_count_; ++p) {
        auto const& part = parts[p];
        members[part.of] -= part.size;
        auto& most = largest[part.of];
        if (most == 0 || part.size > parts[most - 1].size) most = p + 1;
    }
    for (std::uint32_t p = 0; p < part_count_; ++p) {
        auto& part = parts[p];
        auto const of = part.of;
        part.stays = members[of] == 0 && largest[of] == p + 1;
        if (!part.stays) part.of = static_cast<Class>(classes_++);
    }
    moved_count_ = 0;
    for (auto const& one : changed) {
        auto const& part = parts[one.part];
        largest[class_of[one.node]] = 0;
        if (part.stays) continue;
        class_of[one.node] = part.of;
        moved_.as<StateNumber>()[moved_count_++] = one.node;
    }
    for (std::uint32_t p = 0; p < part_count_; ++p) members[parts[p].of] = parts[p].size;
}

std::uint32_t EqualFutures::part_with(std::uint64_t edges, Class of, std::size_t mask) {
    auto* const table = part_table_.as<std::uint32_t>();
    auto* const parts = parts_.as<Part>();
    auto at = spread(edges ^ of) & mask;
    for (; table[at] != 0; at = (at + 1) & mask) {
        auto const& part = parts[table[at] - 1];
        if (part.edges == edges && part.of == of) return table[at] - 1;
    }
    parts[part_count_] = {edges, of, 0, false};
    table[at] = ++part_count_;
    return part_count_ - 1;
}

// However the edges are ordered.
std::uint64_t EqualFutures::hash_of_edges(StateNumber n) const {
    std::uint64_t hash = 0;
    for (auto e = all_.first_edge(n); e < all_.first_edge(n + 1); ++e) {
        auto const edge = all_.edge(e);
        hash += spread(Word{class_of_.as<Class>()[edge.target]} << 32 | edge.label);
    }
    return hash;
}

void EqualFutures::list_edges(StateNumber n, std::vector<Word>& edges) const {
    edges.clear();
    for (auto e = all_.first_edge(n); e < all_.first_edge(n + 1); ++e) {
        auto const edge = all_.edge(e);
        edges.push_back(std::bit_cast<Word>(GraphEdge{class_of_.as<Class>()[edge.target], edge.label}));
    }
    std::ranges::sort(edges);
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
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
    std::vector<Word> of_node;
    for (Class c = 0; c < classes_; ++c) {
        auto const* const row = program_.node_rows()[first_of[c]];
        auto* const node = nodes.append();
        std::copy_n(row, row_words_, node);
        node[0] = edges.size();
        list_edges(first_of[c], of_node);
        for (auto word : of_node) *edges.append() = word;
    }
    std::atomic<bool> all_are_like = true;
    together(nodes_, [&](std::size_t n) {
        if (!is_like(static_cast<StateNumber>(n), nodes, edges)) all_are_like = false;
    });
    return all_are_like;
}

// Whether a node has the row and the edges of its class.
bool EqualFutures::is_like(StateNumber n, Arena const& nodes, Arena const& edges) const {
    TopicGraph const merged(program_, nodes, edges);
    auto const c = class_of_.as<Class>()[n];
    auto const *const row = program_.node_rows()[n], *const node = nodes[c];
    if (!std::equal(row + 1, row + row_words_, node + 1)) return false;
    static thread_local std::vector<Word> of_node;
    list_edges(n, of_node);
    auto const first = merged.first_edge(c);
    if (merged.first_edge(c + 1) - first != of_node.size()) return false;
    for (std::size_t i = 0; i < of_node.size(); ++i) {
        if (*edges[first + i] != of_node[i]) return false;
    }
    return true;
}

}  // namespace fencepost
