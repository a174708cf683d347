// Which states wait to be expanded.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/search/options.hpp"
#include "engine/search/random_stack.hpp"
#include "engine/state/store.hpp"

namespace fencepost {

// Breadth first, they are simply all states from a number on. Largest first takes a state whose monitor has
// the most elements, since it covers the most others.
class Frontier {
  public:
    Frontier(Order order, Variation const& variation) : order_(order), at_random_(variation) {}

    void add(StateNumber n, std::size_t elements) {
        ++size_;
        if (order_ == Order::breadth_first) return;
        if (order_ == Order::at_random) return at_random_.add(n);
        auto const stack = order_ == Order::largest_first ? elements : 0;
        if (stack >= stacks_.size()) stacks_.resize(stack + 1);
        stacks_[stack].push_back(n);
        top_ = std::max(top_, stack);
    }
    // Only these wait, of all states up to number `next`.
    void begin_with(std::vector<StateNumber> waiting, std::uint64_t next) {
        size_ = waiting.size();
        next_ = next;
        stacks_.resize(1);
        stacks_[0] = std::move(waiting);
        top_ = 0;
        if (order_ == Order::breadth_first) std::ranges::reverse(stacks_[0]);
    }
    std::uint64_t size() const { return size_; }
    StateNumber take() {
        --size_;
        if (order_ == Order::breadth_first && (stacks_.empty() || stacks_[0].empty()))
            return static_cast<StateNumber>(next_++);
        if (order_ == Order::at_random) return at_random_.take();
        while (stacks_[top_].empty()) --top_;
        auto const n = stacks_[top_].back();
        stacks_[top_].pop_back();
        return n;
    }
    bool may_go_deeper() const { return order_ != Order::at_random || at_random_.may_go_deeper(); }
    // How many successors are made before they are stored and the next states are chosen. With more, the
    // store waits less for memory, but the order is kept less strictly. (Largest first, taking a few states
    // at once even leaves out more states than taking one at a time.)
    std::size_t batch() const {
        switch (order_) {
            case Order::breadth_first:
                return 32;
            case Order::largest_first:
                return 8;
            default:
                return 1;
        }
    }
    std::size_t bytes() const {
        return order_ == Order::breadth_first ? 0 : static_cast<std::size_t>(size_) * sizeof(StateNumber);
    }

  private:
    Order order_;
    std::uint64_t size_ = 0;
    std::uint64_t next_ = 0;                        // breadth first, when the stack is empty
    std::vector<std::vector<StateNumber>> stacks_;  // else: one, or one for each number of elements
    std::size_t top_ = 0;
    RandomStack at_random_;
};

}  // namespace fencepost
