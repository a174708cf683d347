#include "engine/by_location/future_askers.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

namespace fencepost {

namespace {

constexpr std::size_t nodes_gone_over = 1024;

Word bits_in(Word& word) {
    return std::atomic_ref(word).load(std::memory_order_relaxed);
}
void set_bits(Word& word, Word value) {
    std::atomic_ref(word).store(value, std::memory_order_relaxed);
}

}  // namespace

std::vector<bool> stands_that_ask(TopicGraph const& graph, TopicRules const& rules, Topic const& about) {
    auto const& program = graph.machine().program();
    auto const& stands = graph.stands();
    std::vector<bool> asks(stands.size());
    std::vector<Word> state(graph.machine().words());
    for (std::size_t s = 0; s < stands.size(); ++s) {
        auto const& stand = stands[s];
        auto const& thread = program.threads[stand.thread];
        if (stand.point >= thread.accesses.size()) continue;
        if (!rules.may_ask(about, thread.code[thread.accesses[stand.point]])) continue;
        graph.load(stands.example(s), state.data());
        auto const access = graph.machine().next_access(state.data(), stand.thread);
        asks[s] = rules.asks(about, graph.machine(), state.data(), stand.thread, *access);
    }
    return asks;
}

FutureAskers::FutureAskers(TopicGraph const& graph, TopicRules const& rules,
                           std::vector<std::uint32_t> topics, Pages& rows, Team& team, MemoryBudget& memory,
                           bool taught)
    : graph_(graph),
      rules_(rules),
      topics_(std::move(topics)),
      place_(rules.topics().size()),
      threads_(static_cast<std::uint32_t>(graph.machine().program().threads.size())),
      topics_per_word_(64 / std::max(threads_, std::uint32_t{1})),
      row_words_((topics_.size() + topics_per_word_ - 1) / topics_per_word_),
      rows_(rows),
      team_(team),
      taught_(taught),
      renamed_(1) {
    auto const bytes = graph.size() * row_words_ * sizeof(Word);
    if (rows.bytes() == 0) rows = memory.take(bytes);
    if (rows.bytes() < bytes) memory.extend(rows, bytes);
    for (std::uint32_t place = 0; place < topics_.size(); ++place) place_[topics_[place]] = place;
    start();
    for (LabelNumber n = 0; n < graph.labels().size(); ++n) add_label(graph.labels().events(n));
}

// The bits of those who ask with their next accesses.
void FutureAskers::start() {
    std::vector<Word> of_stand(graph_.stands().size() * row_words_);
    for (std::size_t k = 0; k < topics_.size(); ++k) {
        auto const asks = stands_that_ask(graph_, rules_, rules_.topics()[topics_[k]]);
        for (std::size_t s = 0; s < asks.size(); ++s) {
            if (!asks[s]) continue;
            auto const asker = bit(k, graph_.stands()[s].thread);
            of_stand[s * row_words_ + asker / 64] |= Word{1} << asker % 64;
        }
    }
    together([&](StateNumber first, StateNumber last) {
        for (auto n = first; n < last; ++n) {
            std::fill_n(row(n), row_words_, 0);
            for (std::uint32_t t = 0; t < threads_; ++t) {
                for (std::size_t w = 0; w < row_words_; ++w)
                    row(n)[w] |= of_stand[graph_.stand(n, t) * row_words_ + w];
            }
        }
    });
}

template <class Task>
void FutureAskers::together(Task task) const {
    auto const tasks = (graph_.size() + nodes_gone_over - 1) / nodes_gone_over;
    team_.each(tasks, [&](std::size_t number, std::size_t) {
        auto const first = (tasks - 1 - number) * nodes_gone_over;
        auto const last = std::min(first + nodes_gone_over, graph_.size());
        task(static_cast<StateNumber>(first), static_cast<StateNumber>(last));
    });
}

void FutureAskers::add_label(std::vector<MonitorEvent> const& label) {
    auto& added = labels_.emplace_back(OfLabel{std::vector<Word>(row_words_), 0});
    Renamed renamed{std::vector<std::uint32_t>(row_words_ * 64, none), {}};
    bool renames = false;
    for (std::size_t k = 0; k < topics_.size(); ++k) {
        auto const effect = rules_.effect(label, topics_[k]);
        renames = renames || !effect.exchanges.empty();
        Word settled = 0;  // of C, which has the first bits
        auto const teacher = taught_ ? rules_.teacher_bit(topics_[k]) : none;
        for (auto const& change : effect.changes) {
            if (change.word != 0) continue;
            if (rules_.is_constant(change.from)) settled |= change.set | change.clear;
            if (change.from == teacher) settled |= change.clear;
        }
        for (std::uint32_t t = 0; t < threads_; ++t) {
            std::vector<Word> bits(rules_.words());
            bits[0] = Word{1} << t;
            for (auto exchange : effect.exchanges) rules_.exchanged_bits(exchange).apply(bits.data());
            auto const from = bit(k, t);
            auto const to = bit(place_[effect.topic], static_cast<std::uint32_t>(std::countr_zero(bits[0])));
            if (renamed.before[to] == none) {
                renamed.before[to] = static_cast<std::uint32_t>(from);
            } else {
                renamed.others.emplace_back(to, from);
            }
            if ((settled >> t & 1) == 0) added.passes[from / 64] |= Word{1} << from % 64;
        }
    }
    if (renames) added.renamed = number_of(renamed);
}

std::uint32_t FutureAskers::number_of(Renamed const& renamed) {
    auto const at = std::ranges::find(renamed_, renamed);
    auto const number = static_cast<std::uint32_t>(at - renamed_.begin());
    if (at == renamed_.end()) renamed_.push_back(renamed);
    return number;
}

// From the last node on, since most steps lead to later ones.
bool FutureAskers::advance() {
    std::atomic<bool> changed = false;
    together([&](StateNumber first, StateNumber last) {
        std::vector<Word> found(row_words_);
        bool added = false;
        for (auto n = last; n-- > first;) added = go_back(n, found) || added;
        if (added) changed = true;
    });
    return changed;
}

// Adds to a node what it has by its steps; whether that is anything new. `found` is room for a row.
bool FutureAskers::go_back(StateNumber n, std::vector<Word>& found) const {
    Word* const here = row(n);
    Word added = 0;
    for (auto e = graph_.first_edge(n); e < graph_.first_edge(n + 1); ++e) {
        auto const edge = graph_.edge(e);
        auto const& label = labels_[edge.label];
        Word* after = row(edge.target);
        if (label.renamed != 0) {
            std::ranges::fill(found, 0);
            auto const& [before, others] = renamed_[label.renamed];
            for (std::size_t w = 0; w < row_words_; ++w) {
                for (auto left = bits_in(after[w]); left != 0; left &= left - 1) {
                    auto const b = before[w * 64 + static_cast<std::size_t>(std::countr_zero(left))];
                    if (b != none) found[b / 64] |= Word{1} << b % 64;
                }
            }
            for (auto const& [to, from] : others) {
                if ((bits_in(after[to / 64]) >> to % 64 & 1) != 0) found[from / 64] |= Word{1} << from % 64;
            }
            after = found.data();
        }
        for (std::size_t w = 0; w < row_words_; ++w) {
            auto const fresh = bits_in(after[w]) & label.passes[w] & ~bits_in(here[w]);
            if (fresh == 0) continue;
            set_bits(here[w], bits_in(here[w]) | fresh);
            added |= fresh;
        }
    }
    return added != 0;
}

}  // namespace fencepost
