#include "engine/safety/thread_graph.hpp"

#include <deque>
#include <map>
#include <set>

#include "engine/machine/machine.hpp"

namespace fencepost {
namespace {

// Finds nodes, edges and the values of cells together, since each can bring more of the others.
class Builder {
  public:
    Builder(Program const& program, std::size_t most_nodes, bool failing_cas_writes)
        : program_(program),
          machine_(program),
          most_nodes_(most_nodes),
          failing_cas_writes_(failing_cas_writes),
          held_(program.cells.size()),
          readers_(program.cells.size()),
          written_(program.cells.size(), false),
          numbers_(program.threads.size()),
          states_(program.threads.size()),
          failures_(program.threads.size()) {
        result_.threads.resize(program.threads.size());
        for (std::size_t x = 0; x < program.cells.size(); ++x) {
            result_.initial.push_back(program.cells[x].initial);
            held_[x].insert(program.cells[x].initial);
        }
    }

    ThreadGraphs run() {
        try {
            find();
        } catch (TooMany const& e) {
            result_.unbuilt = {ThreadGraphs::Unbuilt::Why::too_many_nodes, e.thread, 0};
        } catch (EndlessLocalRun const& e) {
            using enum ThreadGraphs::Unbuilt::Why;
            result_.unbuilt = {e.choices ? endless_choices : endless_local_run, e.thread, e.pc};
        }
        for (auto& graph : result_.threads) finish(graph);
        return std::move(result_);
    }

  private:
    struct TooMany {
        std::uint32_t thread;
    };

    void find() {
        start();
        while (!open_.empty()) {
            auto const next = open_.front();
            open_.pop_front();
            visit(next);
        }
    }

    // A node to look at; with a value, only what it does if it reads that.
    struct Standing {
        std::uint32_t thread, node;
        std::optional<Value> value;
    };

    void start() {
        for (std::uint32_t t = 0; t < program_.threads.size(); ++t) {
            StateList states(machine_.words());
            std::optional<Failure> failure;
            machine_.start_alone(t, states, failure);
            auto& initial = result_.threads[t].initial;
            for (std::size_t n = 0; n < states.size(); ++n) initial.push_back(node_of(t, states[n]));
            if (failure) initial.push_back(failed(t));
        }
    }

    void visit(Standing const& at) {
        auto const& [t, node, value] = at;
        auto const access = machine_.next_access(states_[t][node].data(), t);
        if (!access) return;
        bool const looks = access->instruction->op != Op::store && access->instruction->op != Op::sc_fence;
        if (!looks || value) {
            follow(t, node, *access, value.value_or(0));
            return;
        }
        readers_[access->cell].push_back({t, node, {}});
        auto const values = held_[access->cell];  // those that come later are brought by `hold`
        for (auto v : values) follow(t, node, *access, v);
    }

    // The access of t at `node` if it finds v in its cell.
    void follow(std::uint32_t t, std::uint32_t node, Access const& access, Value v) {
        auto state = states_[t][node];
        machine_.set_cell(state.data(), access.cell, v);
        StateList next(machine_.words());
        std::optional<Failure> failure;
        try {
            machine_.step(state.data(), t, access, next, failure);
        } catch (ValueOutOfRange const&) {
            result_.value_limit = true;
            return;
        }
        if (next.size() == 0) return;
        auto const label = label_of(access, v, machine_.written(state.data(), access));
        auto& edges = result_.threads[t].edges;
        for (std::size_t n = 0; n < next.size(); ++n)
            edges.push_back({node, node_of(t, next[n]), access.pc, label});
        if (failure) edges.push_back({node, failed(t), access.pc, label});
        if (label.writes()) hold(t, label.cell, label.written);
    }

    Label label_of(Access const& access, Value v, std::optional<Value> written) const {
        auto const op = access.instruction->op;
        if (op == Op::store) return {LabelKind::write, access.cell, 0, *written};
        if (op == Op::sc_fence) return {LabelKind::read_modify_write, access.cell, 0, 0};
        if (!written && failing_cas_writes_ && op == Op::compare_exchange)
            return {LabelKind::read_modify_write, access.cell, v, v};
        if (!written) return {LabelKind::read, access.cell, v, 0};
        return {LabelKind::read_modify_write, access.cell, v, *written};
    }

    void hold(std::uint32_t thread, std::uint32_t cell, Value v) {
        written_[cell] = true;
        if (!held_[cell].insert(v).second) return;
        if (held_[cell].size() > most_nodes_) throw TooMany{thread};
        for (auto const& reader : readers_[cell]) open_.push_back({reader.thread, reader.node, v});
    }

    // The node where t stands in this state; nothing else in the state counts.
    std::uint32_t node_of(std::uint32_t t, Word const* from) {
        std::vector<Word> state(from, from + machine_.words());
        for (std::uint32_t u = 0; u < program_.threads.size(); ++u) {
            if (u != t) machine_.retire(state.data(), u);
        }
        for (std::uint32_t x = 0; x < program_.cells.size(); ++x) machine_.set_cell(state.data(), x, 0);
        auto& graph = result_.threads[t];
        auto const [at, is_new] = numbers_[t].emplace(state, static_cast<std::uint32_t>(graph.nodes.size()));
        if (is_new) {
            graph.nodes.push_back(
                {pc_of(t, machine_.point(state.data(), t)), machine_.registers(state.data(), t)});
            add(t, std::move(state));
        }
        return at->second;
    }

    std::uint32_t failed(std::uint32_t t) {
        if (!failures_[t]) {
            auto& nodes = result_.threads[t].nodes;
            failures_[t] = static_cast<std::uint32_t>(nodes.size());
            nodes.push_back({failed_pc, std::vector<Value>(program_.threads[t].registers, 0)});
            std::vector<Word> state(machine_.words(), 0);
            machine_.retire(state.data(), t);
            add(t, std::move(state));
        }
        return *failures_[t];
    }

    void add(std::uint32_t t, std::vector<Word> state) {
        states_[t].push_back(std::move(state));
        if (states_[t].size() > most_nodes_) throw TooMany{t};
        open_.push_back({t, static_cast<std::uint32_t>(states_[t].size() - 1), {}});
    }

    std::int64_t pc_of(std::uint32_t t, std::uint32_t point) const {
        auto const& thread = program_.threads[t];
        if (point == thread.diverged()) return -1;
        if (point == thread.ended()) return static_cast<std::int64_t>(thread.code.size());
        return thread.accesses[point];
    }

    void finish(ThreadGraph& graph) const {
        graph.in.resize(graph.nodes.size());
        graph.out.resize(graph.nodes.size());
        for (std::uint32_t e = 0; e < graph.edges.size(); ++e) {
            auto& edge = graph.edges[e];
            if (!written_[edge.label.cell]) edge.label.kind = LabelKind::silent;
            graph.out[edge.from].push_back(e);
            graph.in[edge.to].push_back(e);
        }
    }

    Program const& program_;
    Machine<NoMonitor> machine_;
    std::size_t most_nodes_;
    bool failing_cas_writes_;
    ThreadGraphs result_;
    std::vector<std::set<Value>> held_;           // per cell
    std::vector<std::vector<Standing>> readers_;  // per cell
    std::vector<bool> written_;                   // per cell: by anyone
    std::vector<std::map<std::vector<Word>, std::uint32_t>> numbers_;
    std::vector<std::vector<std::vector<Word>>> states_;  // per thread and node
    std::vector<std::optional<std::uint32_t>> failures_;  // per thread: the node where it has failed
    std::deque<Standing> open_;
};

}  // namespace

ThreadGraphs thread_graphs(Program const& program, std::size_t most_nodes, bool failing_cas_writes) {
    return Builder(program, most_nodes, failing_cas_writes).run();
}

}  // namespace fencepost
