#include "engine/tso/pivot.hpp"

#include <set>

#include "engine/machine/machine.hpp"

namespace fencepost {

namespace {

class PivotSearch {
  public:
    PivotSearch(Program const& program, std::uint32_t pivot, std::vector<OpenCell> const& cells,
                std::uint64_t most_states)
        : program_(program),
          pivot_(pivot),
          cells_(cells),
          most_states_(most_states),
          machine_(program),
          successors_(machine_.words()) {}

    bool is_safe() {
        StateList initial(machine_.words());
        machine_.start(initial, ignored_);
        for (std::size_t n = 0; n < initial.size(); ++n) add(initial[n], none);
        while (!open_.empty()) {
            if (met_.size() > most_states_) return false;
            auto const here = std::move(open_.back());
            open_.pop_back();
            if (suspect(here)) return false;
        }
        return true;
    }

  private:
    struct PivotState {
        std::vector<Word> state;
        std::uint32_t delayed;  // the cell whose write waits in the buffer, or none
        auto operator<=>(PivotState const&) const = default;
    };

    // A cell that others write can have any of their values: there is no need to remember which.
    void add(Word* state, std::uint32_t delayed) {
        for (std::uint32_t t = 0; t < program_.threads.size(); ++t) {
            if (t != pivot_) machine_.retire(state, t);
        }
        for (std::uint32_t x = 0; x < cells_.size(); ++x) {
            if (!cells_[x].written.empty() && x != delayed) machine_.set_cell(state, x, 0);
        }
        PivotState next{{state, state + machine_.words()}, delayed};
        if (met_.insert(next).second) open_.push_back(std::move(next));
    }

    bool suspect(PivotState const& here) {
        auto const access = machine_.next_access(here.state.data(), pivot_);
        if (!access) return false;
        auto const op = access->instruction->op;
        bool const reads = op == Op::load || op == Op::wait;
        if (op == Op::store) {
            follow(here.state, *access, none);
            follow(here.state, *access, access->cell);
            return false;
        }
        // While its own write to the cell waits, the pivot reads that.
        auto const x = access->cell;
        bool const open = !cells_[x].written.empty() && x != here.delayed;
        auto const known = machine_.cell(here.state.data(), x);
        for (auto value : open ? cells_[x].held : std::vector<Value>{known}) {
            auto state = here.state;
            machine_.set_cell(state.data(), x, value);
            if (!machine_.enabled(state.data(), pivot_, *access)) continue;
            if (reads && open && here.delayed != none && others_write_but(x, value)) return true;
            follow(state, *access, reads ? here.delayed : none);
        }
        return false;
    }

    bool others_write_but(std::uint32_t x, Value value) const {
        auto const& written = cells_[x].written;
        return std::any_of(written.begin(), written.end(), [value](Value v) { return v != value; });
    }

    // Does the access; the write of the cell `delayed`, if any, waits until something drains the buffer.
    void follow(std::vector<Word> const& state, Access const& access, std::uint32_t delayed) {
        successors_.clear();
        traces_.clear();
        machine_.step(state.data(), pivot_, access, successors_, ignored_, &traces_);
        auto const& code = program_.threads[pivot_].code;
        auto const drains = [&code](Event const& e) { return code[e.pc].op == Op::drain; };
        for (std::size_t n = 0; n < successors_.size(); ++n) {
            bool const drained = std::any_of(traces_[n].begin(), traces_[n].end(), drains);
            add(successors_[n], drained ? none : delayed);
        }
    }

    Program const& program_;
    std::uint32_t pivot_;
    std::vector<OpenCell> const& cells_;
    std::uint64_t most_states_;
    Machine<NoMonitor> machine_;
    StateList successors_;
    std::vector<Events> traces_;
    std::set<PivotState> met_;
    std::vector<PivotState> open_;
    std::optional<Failure> ignored_;
};

}  // namespace

bool is_safe_pivot(Program const& program, std::uint32_t pivot, std::vector<OpenCell> const& cells,
                   std::uint64_t most_states) {
    try {
        return PivotSearch(program, pivot, cells, most_states).is_safe();
    } catch (EndlessLocalRun const&) {
        return false;
    } catch (ValueOutOfRange const&) {
        return false;
    }
}

}  // namespace fencepost
