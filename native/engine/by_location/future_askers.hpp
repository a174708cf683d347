// Which threads can still ask about a topic, by the steps that follow in the graph?
//
// A thread t can if it asks with its next access, or if it can after a step that does not settle whether C[t]
// misses what the topic is about: t's own access to the location settles it, and so does a write that makes
// the value stale, since there the search of the topic begins anew. That is a least fixpoint over the graph.
// It is computed for many topics at once: each node has a bit for each topic and thread.
//
// Several workers go over the nodes together. The row of a node is written by the worker that has taken the
// node, and read by others meanwhile. Bits are only ever set, one atomic word at a time, and each bit that is
// set belongs to the least fixpoint; so it does not matter which bits a reader sees already. When a pass over
// all nodes sets none, every row was computed from what the rows are now: that is the fixpoint.
#pragma once

#include <utility>
#include <vector>

#include "engine/by_location/topic_graph.hpp"
#include "engine/monitors/topics.hpp"
#include "engine/search/team.hpp"

namespace fencepost {

// Threads, a bit for each.
using ThreadBits = std::uint32_t;

// For each stand, whether the thread asks about the topic with its access there.
std::vector<bool> stands_that_ask(TopicGraph const& graph, TopicRules const& rules, Topic const& about);

class FutureAskers {
  public:
    // About these topics, among which are all that exchanges of threads turn them into. The rows of bits are
    // put in `rows`, which grow if they have to. If topics are `taught`, who reads there settles its bit,
    // too.
    FutureAskers(TopicGraph const& graph, TopicRules const& rules, std::vector<std::uint32_t> topics,
                 Pages& rows, Team& team, MemoryBudget& memory, bool taught = false);

    // Goes once against the steps of all nodes; false when that adds nothing.
    bool advance();
    // After that.
    ThreadBits ever(StateNumber n, std::uint32_t topic) const {
        auto const first = bit(place_[topic], 0);
        auto const bits = row(n)[first / 64] >> first % 64;
        return static_cast<ThreadBits>(bits & ((Word{1} << threads_) - 1));
    }

  private:
    // What a step does to the bits: some are settled, and renamings move the others.
    struct OfLabel {
        std::vector<Word> passes;
        std::uint32_t renamed;  // 0: they stay
    };
    // For each bit after the step, one before it, and others that become the same bit.
    struct Renamed {
        std::vector<std::uint32_t> before;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> others;
        bool operator==(Renamed const&) const = default;
    };

    Word* row(StateNumber n) const { return rows_.as<Word>() + n * row_words_; }
    // Of the topic at this place among `topics_`.
    std::size_t bit(std::size_t place, std::uint32_t t) const {
        return place / topics_per_word_ * 64 + place % topics_per_word_ * threads_ + t;
    }
    // Calls `task` with the first and the last node of some rows, the last rows first.
    template <class Task>
    void together(Task task) const;
    void start();
    bool go_back(StateNumber n, std::vector<Word>& found) const;
    void add_label(std::vector<MonitorEvent> const& label);
    std::uint32_t number_of(Renamed const& renamed);

    TopicGraph const& graph_;
    TopicRules const& rules_;
    std::vector<std::uint32_t> topics_;
    std::vector<std::uint32_t> place_;  // of each of them
    std::uint32_t threads_, topics_per_word_;
    std::size_t row_words_;
    Pages const& rows_;
    Team& team_;
    bool taught_;
    std::vector<OfLabel> labels_;
    std::vector<Renamed> renamed_;
};

}  // namespace fencepost
