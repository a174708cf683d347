// What each thread does next, for any value that it may read: the transition system of models/threads.py.
//
// A node is where a thread stands, with its registers: at an access or a fence, at its end, or in a loop
// without either. The program must have been lowered so that all fences are points (Lowering with
// `fences_stand`). Nodes and steps are found when they are asked for, and kept.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "engine/machine/machine.hpp"

namespace fencepost {

using NodeId = std::uint32_t;

class ThreadSteps {
  public:
    // What an access does if it finds a value: it waits for another one, or writes, and goes on to one of
    // some nodes.
    struct Step {
        bool blocked = false;
        std::optional<Value> written;
        std::vector<NodeId> successors;
        std::optional<Failure> failure;  // the first on the way
    };

    explicit ThreadSteps(Program const& program);

    Program const& program() const { return program_; }
    // Where the thread can stand before its first access, as a step.
    Step const& start(std::uint32_t t) const { return starts_[t]; }
    // The access at the node; nothing at the end, or in an endless loop.
    Access const* access(std::uint32_t t, NodeId node) const;
    bool has_ended(std::uint32_t t, NodeId node) const;
    std::vector<Value> registers(std::uint32_t t, NodeId node) const;
    // Throws EndlessLocalRun or ValueOutOfRange where the machine does.
    Step const& step(std::uint32_t t, NodeId node, Value found);

  private:
    struct Node {
        std::vector<Word> state;
        std::optional<Access> access;
        std::deque<std::pair<Value, Step>> steps;
    };

    NodeId node_of(std::uint32_t t, Word const* from);
    Step make_step(std::uint32_t t, Node const& node, Value found);
    void follow(std::uint32_t t, StateList& states, Step& step);

    Program const& program_;
    Machine<NoMonitor> machine_;
    std::vector<std::map<std::vector<Word>, NodeId>> numbers_;  // per thread
    std::vector<std::deque<Node>> nodes_;                       // per thread
    std::vector<Step> starts_;
};

}  // namespace fencepost
