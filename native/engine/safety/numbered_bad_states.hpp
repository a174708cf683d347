// Bad states with numbered values, to hold against the states of a forward search over a memory of values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "engine/safety/relevance.hpp"
#include "engine/safety/safety.hpp"

namespace fencepost {

class NumberedBadStates {
  public:
    // Throws std::invalid_argument where write races are asked for: such a memory orders all writes.
    NumberedBadStates(ThreadGraphs const& graphs, NumberedLabels const& labels,
                      std::vector<BadStates> const& bad) {
        for (auto const& states : bad) {
            if (states.race) throw std::invalid_argument("a memory of values has no races of writes");
            Product const product(graphs, labels, states);
            if (product.possible) products_.push_back(product);
        }
    }

    // Whether the state is bad in which thread t stands at node(t) and cell x holds value(x).
    template <class Node, class Value>
    bool any(Node node, Value value) const {
        return std::ranges::any_of(products_, [&](Product const& bad) {
            return std::ranges::all_of(bad.threads,
                                       [&](std::size_t t) { return bad.nodes[t].has(node(t)); }) &&
                   std::ranges::all_of(bad.memory,
                                       [&](auto const& asked) { return value(asked.first) == asked.second; });
        });
    }

    // Whether some bad states ask if the thread stands at this node.
    bool names(std::size_t t, std::size_t node) const {
        return std::ranges::any_of(products_, [&](Product const& bad) { return bad.nodes[t].has(node); });
    }

  private:
    struct Product {
        Product(ThreadGraphs const& graphs, NumberedLabels const& labels, BadStates const& bad) {
            for (std::size_t t = 0; t < bad.nodes.size(); ++t) {
                nodes.emplace_back(graphs.threads[t].nodes.size());
                for (auto node : bad.nodes[t]) nodes[t].add(node);
                if (!bad.nodes[t].empty()) threads.push_back(t);
            }
            for (auto const& [cell, value] : bad.memory) {
                auto const number = labels.value(labels.cell(cell), value);
                possible = possible && number;
                memory.emplace_back(labels.cell(cell), number.value_or(0));
            }
        }
        bool possible = true;
        std::vector<std::size_t> threads;  // that have to stand somewhere
        std::vector<NumberSet> nodes;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> memory;
    };

    std::vector<Product> products_;
};

}  // namespace fencepost
