#include "engine/by_location/topic_graph.hpp"

#include <algorithm>
#include <atomic>
#include <span>
#include <utility>

namespace fencepost {

namespace {

constexpr std::size_t nodes_of_a_task = 4096;
constexpr std::size_t most_shards = 64;

// Of the nodes that are looked for.
constexpr std::uint32_t no_class = UINT32_MAX;

std::uint64_t spread(std::uint64_t word) {
    word = (word + 0x632be59bd9b4e019u) * 0x9e3779b97f4a7c15u;
    word = (word ^ word >> 29) * 0xd6e8feb86659fd93u;
    return word ^ word >> 32;
}

std::uint64_t part_hash(std::uint64_t edges, std::uint32_t of) {
    return spread(edges ^ of);
}

std::size_t rows_of(std::size_t count) {
    return (count + nodes_of_a_task - 1) / nodes_of_a_task;
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
      part_table_(memory.take(2 * nodes_ * sizeof(std::uint32_t))),
      moved_(memory.take(nodes_ * sizeof(StateNumber))),
      by_shard_(memory.take(nodes_ * sizeof(std::uint32_t))) {
    find_steps_to();
    // First by what stands in the rows: where threads stand, and what keeps the node.
    in_rows(nodes_, [&](std::size_t first, std::size_t last, std::size_t) {
        for (auto n = static_cast<StateNumber>(first); n < last; ++n) {
            auto const hash = hash_words(program.node_rows()[n] + 1, row_words_ - 1);
            changed_.as<Changed>()[n] = {hash, n, 0};
        }
    });
    members_.as<Class>()[0] = static_cast<Class>(nodes_);
    changed_count_ = nodes_;
    split_classes();
    // Now all are to be looked at, whoever was moved.
    moved_count_ = nodes_;
}

template <class Task>
void EqualFutures::in_rows(std::size_t count, Task task) const {
    if (count <= nodes_of_a_task) return task(0, count, 0);
    team_.each(rows_of(count), [&](std::size_t row, std::size_t) {
        auto const first = row * nodes_of_a_task;
        task(first, std::min(first + nodes_of_a_task, count), row);
    });
}

// Workers count, and fill in, the nodes before the same node in any order. Who comes first makes no
// difference: futures depend on which nodes there are.
void EqualFutures::find_steps_to() {
    auto* const first = first_before_.as<std::size_t>();
    auto* const before = before_.as<StateNumber>();
    bool const alone = team_.size() == 1;  // atomic steps take several times as long
    auto const add = [alone](std::size_t& count, std::size_t change) {
        if (alone) return count += change;
        return std::atomic_ref(count).fetch_add(change, std::memory_order_relaxed) + change;
    };
    auto const each_edge = [&](auto task) {
        in_rows(nodes_, [&](std::size_t from, std::size_t to, std::size_t) {
            for (auto n = static_cast<StateNumber>(from); n < to; ++n) {
                for (auto e = all_.first_edge(n); e < all_.first_edge(n + 1); ++e)
                    task(n, all_.edge(e).target);
            }
        });
    };
    each_edge([&](StateNumber, StateNumber target) { add(first[target], 1); });
    for (std::size_t n = 1; n <= nodes_; ++n) first[n] += first[n - 1];
    // `first` is where the next node would begin, and goes back to where its own do.
    each_edge([&](StateNumber n, StateNumber target) { before[add(first[target], SIZE_MAX)] = n; });
}

bool EqualFutures::split() {
    if (moved_count_ == 0 || !is_worth_it()) return false;
    find_changed();
    auto* const changed = changed_.as<Changed>();
    in_rows(changed_count_, [&](std::size_t first, std::size_t last, std::size_t) {
        for (auto i = first; i < last; ++i) changed[i].edges = hash_of_edges(changed[i].node);
    });
    split_classes();
    return true;
}

// The nodes with an edge to one that was moved, in an order that may be different each time.
void EqualFutures::find_changed() {
    auto* const changed = changed_.as<Changed>();
    if (moved_count_ == nodes_) {
        changed_count_ = nodes_;
        return in_rows(nodes_, [&](std::size_t from, std::size_t to, std::size_t) {
            for (auto n = static_cast<StateNumber>(from); n < to; ++n) changed[n] = {0, n, 0};
        });
    }
    auto* const is_changed = is_changed_.as<bool>();
    auto const* const first = first_before_.as<std::size_t>();
    std::atomic<std::size_t> count = 0;
    in_rows(moved_count_, [&](std::size_t from, std::size_t to, std::size_t) {
        std::vector<StateNumber> fresh;
        for (auto i = from; i < to; ++i) {
            auto const target = moved_.as<StateNumber>()[i];
            for (auto k = first[target]; k < first[target + 1]; ++k) {
                auto const n = before_.as<StateNumber>()[k];
                std::atomic_ref known(is_changed[n]);
                if (known.load(std::memory_order_relaxed)) continue;
                if (known.exchange(true, std::memory_order_relaxed)) continue;
                fresh.push_back(n);
            }
        }
        auto next = count.fetch_add(fresh.size(), std::memory_order_relaxed);
        for (auto n : fresh) changed[next++] = {0, n, 0};
    });
    changed_count_ = count;
    in_rows(changed_count_, [&](std::size_t from, std::size_t to, std::size_t) {
        for (auto i = from; i < to; ++i) is_changed[changed[i].node] = false;
    });
}

// Of a class the nodes that are not changed keep its number, or else the largest part does. So numbers change
// seldom, and few nodes have to be looked at again.
void EqualFutures::split_classes() {
    sort_by_shard();
    if (shards_.size() == 2)
        find_parts(0);
    else
        team_.each(shards_.size() - 1, [&](std::size_t shard, std::size_t) { find_parts(shard); });
    choose_classes();
    move_to_classes();
}

// So that each worker can look for the parts of some shards.
void EqualFutures::sort_by_shard() {
    auto const* const changed = changed_.as<Changed>();
    auto const shards = team_.size() == 1 || changed_count_ < nodes_of_a_task ? 1 : most_shards;
    auto const shard_of = [&](Changed const& one) {
        return (part_hash(one.edges, class_of_.as<Class>()[one.node]) >> 32) * shards >> 32;
    };
    rows_by_shard_.resize(std::max<std::size_t>(rows_of(changed_count_), 1));
    in_rows(changed_count_, [&](std::size_t first, std::size_t last, std::size_t row) {
        rows_by_shard_[row].assign(shards, 0);
        for (auto i = first; i < last; ++i) ++rows_by_shard_[row][shard_of(changed[i])];
    });
    shards_.assign(shards + 1, {});
    std::size_t sum = 0;
    for (std::size_t shard = 0; shard < shards; ++shard) {
        shards_[shard].first = sum;
        for (auto& row : rows_by_shard_) {
            auto const count = row[shard];
            row[shard] = static_cast<std::uint32_t>(sum);
            sum += count;
        }
    }
    shards_[shards].first = sum;
    in_rows(changed_count_, [&](std::size_t first, std::size_t last, std::size_t row) {
        for (auto i = first; i < last; ++i)
            by_shard_.as<std::uint32_t>()[rows_by_shard_[row][shard_of(changed[i])]++] =
                static_cast<std::uint32_t>(i);
    });
}

void EqualFutures::find_parts(std::size_t shard) {
    auto const first = shards_[shard].first, last = shards_[shard + 1].first;
    std::fill_n(part_table_.as<std::uint32_t>() + 2 * first, 2 * (last - first), 0);
    for (auto i = first; i < last; ++i) {
        auto& one = changed_.as<Changed>()[by_shard_.as<std::uint32_t>()[i]];
        auto const of = class_of_.as<Class>()[one.node];
        one.part = part_with(part_hash(one.edges, of), one.edges, of, shard);
        ++parts_.as<Part>()[one.part].size;
    }
}

std::uint32_t EqualFutures::part_with(std::uint64_t hash, std::uint64_t edges, Class of, std::size_t shard) {
    auto const first = shards_[shard].first;
    auto const slots = 2 * (shards_[shard + 1].first - first);
    auto* const table = part_table_.as<std::uint32_t>() + 2 * first;
    auto* const parts = parts_.as<Part>();
    // By the lower half of the hash, since the upper one says which shard it is.
    auto at = (hash & UINT32_MAX) * slots >> 32;
    for (; table[at] != 0; at = at + 1 == slots ? 0 : at + 1) {
        auto const& part = parts[table[at] - 1];
        if (part.edges == edges && part.of == of) return table[at] - 1;
    }
    auto const number = static_cast<std::uint32_t>(first + shards_[shard].parts++);
    parts[number] = {edges, of, 0, of};
    table[at] = number + 1;
    return number;
}

void EqualFutures::choose_classes() {
    auto* const members = members_.as<Class>();
    auto* const largest = largest_.as<std::uint32_t>();
    auto* const parts = parts_.as<Part>();
    auto const each_part = [&](auto task) {
        for (std::size_t shard = 0; shard + 1 < shards_.size(); ++shard) {
            auto const first = static_cast<std::uint32_t>(shards_[shard].first);
            for (auto p = first; p < first + shards_[shard].parts; ++p) task(p, parts[p]);
        }
    };
    // `members` of a class becomes how many of it are not changed.
    each_part([&](std::uint32_t p, Part const& part) {
        members[part.of] -= part.size;
        auto& most = largest[part.of];
        if (most == 0 || part.size > parts[most - 1].size) most = p + 1;
    });
    each_part([&](std::uint32_t p, Part& part) {
        if (members[part.of] != 0 || largest[part.of] != p + 1) part.becomes = static_cast<Class>(classes_++);
    });
    each_part([&](std::uint32_t, Part const& part) { largest[part.of] = 0; });
    each_part([&](std::uint32_t, Part const& part) {
        if (part.becomes == part.of)
            members[part.of] = part.size;
        else
            members[part.becomes] = part.size;
    });
}

void EqualFutures::move_to_classes() {
    auto const* const changed = changed_.as<Changed>();
    auto const* const parts = parts_.as<Part>();
    std::atomic<std::size_t> count = 0;
    in_rows(changed_count_, [&](std::size_t first, std::size_t last, std::size_t) {
        std::size_t moved = 0;
        for (auto i = first; i < last; ++i)
            moved += parts[changed[i].part].becomes != parts[changed[i].part].of;
        auto next = count.fetch_add(moved, std::memory_order_relaxed);
        for (auto i = first; i < last; ++i) {
            auto const& part = parts[changed[i].part];
            if (part.becomes == part.of) continue;
            class_of_.as<Class>()[changed[i].node] = part.becomes;
            moved_.as<StateNumber>()[next++] = changed[i].node;
        }
    });
    moved_count_ = count;
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

void EqualFutures::list_edges(StateNumber n, std::vector<GraphEdge>& edges) const {
    edges.clear();
    for (auto e = all_.first_edge(n); e < all_.first_edge(n + 1); ++e) {
        auto const edge = all_.edge(e);
        edges.push_back({class_of_.as<Class>()[edge.target], edge.label});
    }
    std::ranges::sort(edges);
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
}

bool EqualFutures::merge(Arena& nodes, EdgeArena& edges) {
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
    std::vector<GraphEdge> of_node;
    for (Class c = 0; c < classes_; ++c) {
        auto const* const row = program_.node_rows()[first_of[c]];
        auto* const node = nodes.append();
        std::copy_n(row, row_words_, node);
        node[0] = edges.size();
        list_edges(first_of[c], of_node);
        for (auto const& edge : of_node) *edges.append() = edge;
    }
    std::atomic<bool> all_are_like = true;
    in_rows(nodes_, [&](std::size_t first, std::size_t last, std::size_t) {
        for (auto n = static_cast<StateNumber>(first); n < last; ++n) {
            if (!is_like(n, nodes, edges)) all_are_like = false;
        }
    });
    return all_are_like;
}

// Whether a node has the row and the edges of its class.
bool EqualFutures::is_like(StateNumber n, Arena const& nodes, EdgeArena const& edges) const {
    TopicGraph const merged(program_, nodes, edges);
    auto const c = class_of_.as<Class>()[n];
    auto const *const row = program_.node_rows()[n], *const node = nodes[c];
    if (!std::equal(row + 1, row + row_words_, node + 1)) return false;
    static thread_local std::vector<GraphEdge> of_node;
    list_edges(n, of_node);
    auto const first = merged.first_edge(c);
    if (merged.first_edge(c + 1) - first != of_node.size()) return false;
    for (std::size_t i = 0; i < of_node.size(); ++i) {
        if (merged.edge(first + i) != of_node[i]) return false;
    }
    return true;
}

}  // namespace fencepost
