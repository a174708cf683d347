// Steps that are looked up against steps that the machine runs, on random programs, with every monitor.
//
// links: engine/machine/evaluate.cpp engine/monitors/packed_monitor.cpp engine/monitors/rules.cpp
// links: engine/monitors/views.cpp engine/program/bytecode.cpp engine/program/control_flow.cpp
// links: engine/state/layout.cpp
#include "engine/search/known_steps.hpp"

#include <set>
#include <vector>

#include "engine/monitors/packed_monitor.hpp"
#include "tests/native/check.hpp"

using namespace fencepost;

namespace {

constexpr std::uint32_t cells = 3, registers = 2;
constexpr Value max_value = 2;

class RandomProgram {
  public:
    explicit RandomProgram(std::uint64_t seed) : chance_(seed) {
        program_.max_value = max_value;
        for (std::uint32_t x = 0; x <= cells; ++x) {
            auto& cell = program_.cells.emplace_back();
            if (x == cells) break;  // the one of SC fences
            for (Value v = 0; v <= max_value; ++v) {
                if (chance_.one_in(2)) cell.plain.tracked.push_back(v);
                if (chance_.one_in(2)) cell.free.tracked.push_back(v);
            }
            cell.plain.others = chance_.one_in(2);
            cell.free.others = chance_.one_in(2);
        }
        for (Value v = 0; v <= max_value; ++v) program_.expressions.emplace_back().constant = v;
        for (std::uint32_t r = 0; r < registers; ++r) {
            auto& expression = program_.expressions.emplace_back();
            expression.shape = Expression::Shape::single_register;
            expression.register_number = r;
        }
        for (auto threads = 2 + chance_.below(2); threads > 0; --threads) add_thread();
        program_.finish();
    }

    Program const& program() const { return program_; }

  private:
    void add_thread() {
        auto& thread = program_.threads.emplace_back();
        thread.registers = registers;
        auto const length = 3 + chance_.below(6);
        // An access comes first, so that a thread that goes back there does not run for ever without one.
        thread.code.push_back(instruction(random_access(), length));
        while (thread.code.size() < length) {
            auto const op = chance_.one_in(2) ? random_access() : random_local();
            thread.code.push_back(instruction(op, length, static_cast<std::uint32_t>(thread.code.size())));
        }
        if (chance_.one_in(2)) thread.code.emplace_back().op = Op::go_to;  // the first instruction
    }

    Op random_access() {
        return static_cast<Op>(static_cast<std::uint32_t>(Op::load) +
                               chance_.below(static_cast<std::uint32_t>(Op::sc_fence) -
                                             static_cast<std::uint32_t>(Op::load) + 1));
    }
    Op random_local() {
        constexpr Op all[] = {Op::assign, Op::branch,        Op::choose,        Op::assert_,
                              Op::assume, Op::acquire_fence, Op::release_fence, Op::acquire_release_fence};
        return all[chance_.below(std::size(all))];
    }
    std::uint32_t expression() { return chance_.below(program_.expressions.size()); }

    Instruction instruction(Op op, std::uint32_t length, std::uint32_t pc = 0) {
        Instruction i;
        i.op = op;
        i.acquire = chance_.one_in(2);
        i.acquire_alone = i.op == Op::compare_exchange ? chance_.one_in(2) : i.acquire;
        i.release = chance_.one_in(2);
        i.first_cell = op == Op::sc_fence ? cells : chance_.below(cells);
        i.first = expression();
        i.second = expression();
        i.target = pc + 1 + chance_.below(length - pc);
        if (op == Op::assign || (op >= Op::load && op != Op::store && op <= Op::compare_exchange))
            i.reg = chance_.below(registers);
        if (op == Op::wait) i.many = {expression(), expression()};
        if (op == Op::choose) i.many = {pc + 1, i.target};
        return i;
    }

    Chance chance_;
    Program program_;
};

// How many steps were looked up.
template <class Monitor>
std::size_t agrees_with_the_machine(Program const& program) {
    Machine<Monitor> const machine(program);
    KnownSteps<Monitor> known(machine);
    using State = std::vector<Word>;
    std::set<State> met;
    std::vector<State> waiting;
    auto const add = [&](StateList& states) {
        for (std::size_t i = 0; i < states.size(); ++i) {
            State state(states[i], states[i] + machine.words());
            if (met.size() < 300 && met.insert(state).second) waiting.push_back(state);
        }
    };
    StateList successors(machine.words());
    std::optional<Failure> failure;
    machine.start(successors, failure);
    add(successors);
    std::size_t looked_up = 0;
    while (!waiting.empty()) {
        auto const state = waiting.back();
        waiting.pop_back();
        for (std::uint32_t t = 0; t < program.threads.size(); ++t) {
            auto& here = known.standing(state.data(), t);
            auto const access = machine.next_access(state.data(), t);
            CHECK(here.access.has_value() == access.has_value());
            if (!access) continue;
            CHECK(here.access->pc == access->pc && here.access->cell == access->cell);
            CHECK(here.access->first == access->first && here.access->second == access->second);
            failure.reset();
            successors.clear();
            machine.step(state.data(), t, *access, successors, failure);
            add(successors);
            auto const& step = known.step(state.data(), t, here);
            if (!step.is_kept) continue;
            ++looked_up;
            CHECK(step.count == successors.size() && step.fails == failure.has_value());
            for (std::size_t n = 0; n < successors.size(); ++n) {
                auto const& outcome = known.outcomes(step)[n];
                auto next = state;
                known.apply(outcome, next.data());
                CHECK(same_words(next.data(), successors[n], machine.words()));
                CHECK(outcome.forwards == (machine.point(successors[n], t) > machine.point(state.data(), t)));
            }
        }
    }
    return looked_up;
}

}  // namespace

int main() {
    std::size_t looked_up[3] = {};
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        RandomProgram const random(seed);
        looked_up[0] += agrees_with_the_machine<NoMonitor>(random.program());
        looked_up[1] += agrees_with_the_machine<PackedMonitor<Ra>>(random.program());
        looked_up[2] += agrees_with_the_machine<PackedMonitor<Rc20>>(random.program());
    }
    for (auto count : looked_up) CHECK(count > 1000);
}
