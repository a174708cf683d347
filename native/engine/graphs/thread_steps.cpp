#include "engine/graphs/thread_steps.hpp"

namespace fencepost {

ThreadSteps::ThreadSteps(Program const& program)
    : program_(program),
      machine_(program),
      numbers_(program.threads.size()),
      nodes_(program.threads.size()),
      starts_(program.threads.size()) {
    for (std::uint32_t t = 0; t < program.threads.size(); ++t) {
        StateList states(machine_.words());
        machine_.start_alone(t, states, starts_[t].failure);
        follow(t, states, starts_[t]);
    }
}

Access const* ThreadSteps::access(std::uint32_t t, NodeId node) const {
    auto const& found = nodes_[t][node].access;
    return found ? &*found : nullptr;
}

bool ThreadSteps::has_ended(std::uint32_t t, NodeId node) const {
    return machine_.point(nodes_[t][node].state.data(), t) == program_.threads[t].ended();
}

std::vector<Value> ThreadSteps::registers(std::uint32_t t, NodeId node) const {
    return machine_.registers(nodes_[t][node].state.data(), t);
}

ThreadSteps::Step const& ThreadSteps::step(std::uint32_t t, NodeId node, Value found) {
    auto& at = nodes_[t][node];
    for (auto const& [value, step] : at.steps) {
        if (value == found) return step;
    }
    auto step = make_step(t, at, found);
    return at.steps.emplace_back(found, std::move(step)).second;
}

ThreadSteps::Step ThreadSteps::make_step(std::uint32_t t, Node const& node, Value found) {
    Step step;
    auto state = node.state;
    bool const is_fence = node.access->instruction->op == Op::sc_fence;
    if (!is_fence) machine_.set_cell(state.data(), node.access->cell, found);
    StateList states(machine_.words());
    machine_.step(state.data(), t, *node.access, states, step.failure);
    step.blocked = states.size() == 0;
    if (!step.blocked && !is_fence) step.written = machine_.written(state.data(), *node.access);
    follow(t, states, step);
    return step;
}

void ThreadSteps::follow(std::uint32_t t, StateList& states, Step& step) {
    for (std::size_t n = 0; n < states.size(); ++n) step.successors.push_back(node_of(t, states[n]));
}

// Nothing but the thread itself counts.
NodeId ThreadSteps::node_of(std::uint32_t t, Word const* from) {
    std::vector<Word> state(from, from + machine_.words());
    for (std::uint32_t u = 0; u < program_.threads.size(); ++u) {
        if (u != t) machine_.retire(state.data(), u);
    }
    for (std::uint32_t x = 0; x < program_.cells.size(); ++x) machine_.set_cell(state.data(), x, 0);
    auto const [at, is_new] = numbers_[t].emplace(state, static_cast<NodeId>(nodes_[t].size()));
    if (is_new) {
        auto access = machine_.next_access(state.data(), t);
        nodes_[t].push_back({std::move(state), access, {}});
    }
    return at->second;
}

}  // namespace fencepost
