// States that wait to be expanded depth first; those met together come in random order.
#pragma once

#include <utility>
#include <vector>

#include "engine/search/options.hpp"
#include "engine/state/store.hpp"

namespace fencepost {

class RandomStack {
  public:
    explicit RandomStack(Variation const& variation) : chance_(variation.seed), deepest_(variation.deepest) {}

    void add(StateNumber n) {
        waiting_.push_back({n, depth_ + 1});
        ++added_;
    }
    StateNumber take() {
        for (auto last = waiting_.size(); added_ > 1; --added_, --last)
            std::swap(waiting_[last - 1], waiting_[last - 1 - below(added_)]);
        added_ = 0;
        auto const taken = waiting_.back();
        waiting_.pop_back();
        depth_ = taken.depth;
        return taken.number;
    }
    // Whether the successors of the state taken last are wanted.
    bool may_go_deeper() const { return depth_ <= deepest_; }

  private:
    struct Waiting {
        StateNumber number;
        std::uint32_t depth;  // of its path, in states: 1 for an initial state
    };

    // Less than `count`; the same on every machine. (Steele, Lea and Flood 2014, SplitMix.)
    std::uint64_t below(std::uint64_t count) {
        auto z = chance_ += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        return (z >> 32) * count >> 32;
    }

    std::vector<Waiting> waiting_;
    std::uint64_t added_ = 0;  // since the last was taken
    std::uint32_t depth_ = 0;  // of the one taken last
    std::uint64_t chance_;
    std::uint32_t deepest_;
};

}  // namespace fencepost
