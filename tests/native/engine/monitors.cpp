// What exchanges of equal threads do to states, and topics against whole monitors; both on random programs in
// which some threads are equal up to cells and values of their own.
//
// links: engine/machine/evaluate.cpp engine/monitors/packed_monitor.cpp engine/monitors/rules.cpp
// links: engine/monitors/topics.cpp engine/monitors/views.cpp engine/program/bytecode.cpp
// links: engine/state/layout.cpp
#include <set>
#include <vector>

#include "engine/monitors/packed_monitor.hpp"
#include "engine/monitors/topics.hpp"
#include "engine/search/symmetry.hpp"
#include "tests/native/check.hpp"

using namespace fencepost;

namespace {

constexpr Value max_value = 3;
constexpr std::uint32_t plain_register = 0, turn_register = 1;

// Equal threads with a cell of their own each, atomic and not, and a value of their own that stands in the
// cell `turn` alone; and sometimes another thread.
class SymmetricProgram {
  public:
    SymmetricProgram(std::uint64_t seed, bool ordered_by_s, std::size_t most)
        : chance_(seed),
          ordered_by_s_(ordered_by_s),
          sc_one_in_(1 + chance_.below(4)),
          equal_(2 + chance_.one_in(3)) {
        program_.max_value = max_value;
        add_cells();
        for (Value v = 0; v <= max_value; ++v) program_.expressions.emplace_back().constant = v;
        for (auto r : {plain_register, turn_register}) {
            auto& expression = program_.expressions.emplace_back();
            expression.shape = Expression::Shape::single_register;
            expression.register_number = r;
        }
        taints_ = chance_.one_in(2);
        auto const equal = random_code(2 + chance_.below(most), false);
        for (std::uint32_t t = 0; t < equal_; ++t) add_thread(equal, t);
        if (chance_.one_in(2)) add_thread(random_code(1 + chance_.below(2), true), equal_);
        for (std::uint32_t t = 0; t + 1 < equal_; ++t) add_exchange(t);
        program_.finish();
    }

    Program const& program() const { return program_; }

  private:
    enum class Where { own, own_plain, shared, turn, shared_plain };
    struct Drawn {
        Instruction instruction;  // without cell and operands
        Where where;
        std::vector<std::uint32_t> operands;
    };
    static constexpr std::uint32_t own_value = 100, from_register = 101;  // operands that are no constants

    std::uint32_t cell(Where where, std::uint32_t t) const {
        switch (where) {
            case Where::own:
                return t;
            case Where::own_plain:
                return equal_ + t;
            default:
                return 2 * equal_ + static_cast<std::uint32_t>(where) - 2;
        }
    }

    ValueClasses random_classes() {
        ValueClasses classes{{}, chance_.one_in(2)};
        for (Value v = 0; v <= max_value; ++v) {
            if (chance_.one_in(2)) classes.tracked.push_back(v);
        }
        return classes;
    }
    ValueClasses classes_of_turn() {
        ValueClasses classes{{}, chance_.one_in(2)};
        if (chance_.one_in(2)) classes.tracked.push_back(0);
        if (!chance_.one_in(3)) {
            for (Value v = 1; v <= equal_; ++v) classes.tracked.push_back(v);
        }
        return classes;
    }
    void add_cells() {
        Cell const own{0, true, random_classes(), random_classes()};
        for (std::uint32_t t = 0; t < equal_; ++t) program_.cells.push_back(own);
        for (std::uint32_t t = 0; t < equal_; ++t) program_.cells.push_back({0, false, {}, {}});
        Cell shared{0, true, random_classes(), {}};
        shared.free = chance_.one_in(2) ? shared.plain : random_classes();
        program_.cells.push_back(shared);
        program_.cells.push_back({0, true, classes_of_turn(), classes_of_turn()});
        program_.cells.push_back({0, false, {}, {}});
        program_.cells.emplace_back();  // the one of SC fences
    }

    std::vector<Drawn> random_code(std::size_t accesses, bool alone) {
        std::vector<Drawn> code;
        for (std::size_t n = 0; n < accesses; ++n) {
            if (chance_.one_in(3)) code.push_back(random_fence());
            if (chance_.one_in(4)) code.push_back(random_local());
            code.push_back(random_access(alone));
        }
        if (chance_.one_in(3)) code.push_back(random_fence());
        for (std::uint32_t pc = 0; pc < code.size(); ++pc) {
            auto& i = code[pc].instruction;
            i.target = std::min<std::uint32_t>(pc + 1 + chance_.below(3), code.size());
            if (i.op == Op::choose) i.many = {pc + 1, i.target};
        }
        return code;
    }
    Drawn random_fence() {
        Drawn drawn{{}, Where::shared, {}};
        drawn.instruction.op =
            static_cast<Op>(static_cast<std::uint32_t>(Op::acquire_fence) + chance_.below(3));
        if (chance_.one_in(4)) {
            drawn.instruction.op = ordered_by_s_ ? Op::order_fence : Op::sc_fence;
            drawn.instruction.first_cell = none;
        }
        return drawn;
    }
    Drawn random_local() {
        Drawn drawn{{}, Where::shared, {}};
        auto& i = drawn.instruction;
        switch (chance_.below(4)) {
            case 0:
                i.op = Op::choose;
                break;
            case 1:
                i.op = Op::branch;
                drawn.operands = {from_register};
                break;
            case 2:
                i.op = Op::assign;
                i.reg = plain_register;
                drawn.operands = {chance_.below(2)};
                break;
            default:
                i.op = Op::assign;
                i.reg = turn_register;
                drawn.where = Where::turn;
                drawn.operands = {own_value};
        }
        return drawn;
    }
    Drawn random_access(bool alone) {
        Drawn drawn{{}, static_cast<Where>(chance_.below(5)), {}};
        if (alone && (drawn.where == Where::own || drawn.where == Where::own_plain))
            drawn.where = Where::shared;
        auto& i = drawn.instruction;
        bool const turn = drawn.where == Where::turn;
        if (drawn.where == Where::own_plain || drawn.where == Where::shared_plain) {
            i.non_atomic = true;
            i.op = chance_.one_in(2) ? Op::load : Op::store;
        } else {
            do {
                i.op = static_cast<Op>(static_cast<std::uint32_t>(Op::load) + chance_.below(10));
            } while (turn && is_fetch(i.op));
            if (chance_.one_in(3)) i.op = chance_.one_in(2) ? Op::load : Op::store;
            i.acquire = chance_.one_in(2), i.release = chance_.one_in(2), i.sc = chance_.one_in(sc_one_in_);
            i.acquire_alone = i.acquire, i.sc_alone = i.sc;
            if (i.op == Op::compare_exchange)
                i.acquire_alone = chance_.one_in(2), i.sc_alone = chance_.one_in(2);
            i.acquire = i.acquire || i.sc, i.release = i.release || i.sc;
            i.acquire_alone = i.acquire_alone || i.sc_alone;
        }
        bool const reads = i.op != Op::store && i.op != Op::blocking_compare_exchange;
        if (reads && !chance_.one_in(4)) i.reg = turn ? turn_register : plain_register;
        i.taints = taints_ && i.op == Op::load && !i.non_atomic && i.reg != none && chance_.one_in(2);
        auto const operand = [&] {
            if (chance_.one_in(3)) return from_register;
            return turn && !alone && chance_.one_in(2) ? own_value : chance_.below(turn ? 1 : 2);
        };
        drawn.operands = {operand(), operand()};
        return drawn;
    }

    void add_thread(std::vector<Drawn> const& code, std::uint32_t t) {
        auto& thread = program_.threads.emplace_back();
        thread.registers = 2;
        thread.dead_at_end = {plain_register, turn_register};
        if (taints_) thread.taintable = {plain_register, turn_register};
        for (auto const& drawn : code) {
            auto i = drawn.instruction;
            bool const turn = drawn.where == Where::turn;
            i.first_cell = i.first_cell == none ? program_.fence_cell() : cell(drawn.where, t);
            std::vector<std::uint32_t> operands;
            for (auto operand : drawn.operands) {
                operands.push_back(operand == own_value ? t + 1
                                   : operand == from_register
                                       ? max_value + 1 + (turn ? turn_register : plain_register)
                                       : operand);
            }
            if (i.op == Op::wait) {
                i.many = operands;
            } else if (i.op != Op::load) {
                if (!operands.empty()) i.first = operands[0];
                if (operands.size() > 1) i.second = operands[1];
            }
            thread.code.push_back(std::move(i));
        }
    }

    void add_exchange(std::uint32_t t) {
        Exchange e{t, t + 1, {{t, t + 1}, {equal_ + t, equal_ + t + 1}}, {{t + 1, t + 2, {}, {}}}};
        e.values[0].cells = {cell(Where::turn, 0)};
        for (std::uint32_t u = 0; u < program_.threads.size(); ++u) {
            for (std::uint32_t pc = 0; pc < program_.threads[u].code.size(); ++pc)
                e.values[0].registers.push_back({u, pc, turn_register});
        }
        program_.exchanges.push_back(std::move(e));
    }

    Chance chance_;
    bool ordered_by_s_, taints_ = false;
    std::uint32_t sc_one_in_, equal_;
    Program program_;
};

using State = std::vector<Word>;

// All states, nothing if there are many.
template <class Monitor>
std::set<State> all_states(Machine<Monitor> const& machine) {
    std::set<State> met;
    std::vector<State> waiting;
    StateList successors(machine.words());
    std::optional<Failure> failure;
    auto const add = [&] {
        for (std::size_t i = 0; i < successors.size(); ++i) {
            State state(successors[i], successors[i] + machine.words());
            if (met.insert(state).second) waiting.push_back(std::move(state));
        }
        successors.clear();
    };
    machine.start(successors, failure);
    add();
    while (!waiting.empty()) {
        if (met.size() > 3000) return {};
        auto const state = std::move(waiting.back());
        waiting.pop_back();
        for (std::uint32_t t = 0; t < machine.program().threads.size(); ++t) {
            auto const access = machine.next_access(state.data(), t);
            if (!access) continue;
            machine.step(state.data(), t, *access, successors, failure);
            add();
        }
    }
    return met;
}

// The program is the same after an exchange, and so is the set of its states: sorting leads to one of them.
struct Sorted {
    std::size_t states = 0, kept = 0;
};
template <class Monitor>
void sorts_to_reachable_states(Program const& program, Sorted& count) {
    Machine<Monitor> const machine(program);
    Symmetry<Monitor> const symmetry(machine);
    auto const met = all_states(machine);
    std::set<State> sorted;
    for (auto state : met) {
        symmetry.sort(state.data(), [](std::uint32_t) {});
        CHECK(met.contains(state));
        sorted.insert(std::move(state));
    }
    count.states += met.size();
    count.kept += sorted.size();
}

// One monitor twice: as a whole, and as all of its topics.
template <class Rules>
class Both {
  public:
    Both(Program const& program, Model model, std::uint64_t seed)
        : chance_(seed),
          program_(program),
          machine_(program),
          rules_(program, model),
          state_(machine_.words()),
          topics_(rules_.topics().size(), {State(rules_.words()), false}) {
        machine_.monitor().start(state_.data());
        for (auto& topic : topics_) topic.bits.back() = TopicRules::mark;
        for (auto const& renaming : program.renamings()) {
            machine_.monitor().add_renaming(renaming, moves_.emplace_back());
            moves_.back().finish();
        }
    }

    // How many topics have been compared that were awake.
    std::size_t run(std::size_t labels) {
        for (std::size_t n = 0; n < labels; ++n) {
            if (chance_.one_in(8)) {
                exchange();
            } else {
                step();
            }
            compare();
        }
        return compared_;
    }

  private:
    struct OneTopic {
        State bits;
        bool woken;
    };

    bool is_stale(std::uint32_t k, std::uint32_t t) const { return (topics_[k].bits[0] >> t & 1) != 0; }
    bool is_aware(std::uint32_t k, std::uint32_t t) const {
        return (topics_[k].bits[0] >> (rules_.aware_shift() + t) & 1) != 0;
    }

    void step() {
        auto const t = chance_.below(program_.threads.size());
        auto const& code = program_.threads[t].code;
        std::vector<MonitorEvent> label;
        auto const& i = code[chance_.below(code.size())];
        if (i.is_access()) label.push_back(event_of(t, i));
        for (auto const& other : code) {
            if (other.op > Op::sc_fence && chance_.one_in(3)) label.push_back(MonitorEvent::fence(t, other));
        }
        auto const before = stale_topics();
        Word* state = state_.data();
        for (auto const& event : label) machine_.monitor().apply(state, event);
        tell(label);
        auto const after = stale_topics();
        for (std::uint32_t k = 0; k < topics_.size(); ++k) {
            if (after[k] && !before[k])
                CHECK(std::ranges::any_of(label, [&](auto const& event) {
                    auto const seen = Rules::seen(event);
                    return seen && rules_.wakes(*seen, k);
                }));
        }
    }
    void exchange() {
        if (moves_.empty()) return;
        auto const number = chance_.below(moves_.size());
        moves_[number].apply(state_.data());
        tell({{MonitorEvent::Kind::exchange, number}});
    }

    MonitorEvent event_of(std::uint32_t t, Instruction const& i) {
        using enum MonitorEvent::Kind;
        if (i.op == Op::sc_fence) return {sc_fence, t, program_.fence_cell()};
        bool writes = i.op != Op::load && i.op != Op::wait;
        if (i.op == Op::compare_exchange) writes = chance_.one_in(2);
        MonitorEvent event{read,         t,
                           i.first_cell, writes ? i.acquire : i.acquire_alone,
                           i.release,    writes ? i.sc : i.sc_alone};
        if (i.non_atomic) {
            event.kind = writes ? non_atomic_write : non_atomic_read;
        } else if (writes) {
            event.kind = i.op == Op::store ? write : read_modify_write;
            event.old = program_.cells[i.first_cell].stale(chance_.below(max_value + 1));
        }
        return event;
    }

    void tell(std::vector<MonitorEvent> const& events) {
        std::vector<MonitorEvent> label;
        for (auto const& event : events) {
            if (auto const seen = Rules::seen(event)) label.push_back(*seen);
        }
        std::vector<OneTopic> after(topics_.size());
        for (std::uint32_t k = 0; k < topics_.size(); ++k) {
            auto topic = topics_[k];
            for (auto const& event : label) {
                topic.woken =
                    topic.woken || (event.kind != MonitorEvent::Kind::exchange && rules_.wakes(event, k));
            }
            auto const effect = rules_.effect(label, k);
            for (auto const& change : effect.changes) {
                auto const from = Word{0} - (topic.bits[change.from / 64] >> change.from % 64 & 1);
                auto& word = topic.bits[change.word];
                word = (word | (change.set & from)) & ~(change.clear & ~from);
            }
            for (auto e : effect.exchanges) rules_.exchanged_bits(e).apply(topic.bits.data());
            CHECK(after[effect.topic].bits.empty());  // no other topic becomes this one
            after[effect.topic] = std::move(topic);
        }
        topics_ = std::move(after);
    }

    // By the whole monitor: whether a view misses what a topic about stale values is about.
    bool misses(Topic const& topic, View view) const {
        auto const& cell = program_.cells[topic.cell];
        bool const plain = topic.plain != none;
        auto const& tracked = plain ? cell.plain.tracked : cell.free.tracked;
        auto const c = plain ? topic.plain : topic.free;
        Views::Selected selected;
        Views::StaleBits stale(machine_.monitor().views(), topic.cell, view, View{none}, View{none},
                               selected);
        if (c < tracked.size()) {
            plain ? stale.plain(tracked[c]) : stale.free(tracked[c]);
            return selected.any(state_.data());
        }
        // The class of all other values: what is left of any value.
        for (auto v : tracked) plain ? stale.plain(v) : stale.free(v);
        bool const one_of_them = selected.any(state_.data());
        plain ? stale.any_plain() : stale.any_free();
        return !one_of_them && selected.any(state_.data());
    }
    // Not for the class of all other values while some view misses values of their own.
    bool can_tell(Topic const& topic, View view) const {
        auto const& cell = program_.cells[topic.cell];
        bool const plain = topic.plain != none;
        auto const& tracked = plain ? cell.plain.tracked : cell.free.tracked;
        if (is_single(topic)) return true;
        Views::Selected selected;
        Views::StaleBits stale(machine_.monitor().views(), topic.cell, view, View{none}, View{none},
                               selected);
        for (auto v : tracked) plain ? stale.plain(v) : stale.free(v);
        return !selected.any(state_.data());
    }
    // About one value alone.
    bool is_single(Topic const& topic) const {
        auto const& cell = program_.cells[topic.cell];
        return topic.plain != none ? topic.plain < cell.plain.tracked.size()
                                   : topic.free < cell.free.tracked.size();
    }

    // By topic: whether some thread misses the value that it is about.
    std::vector<bool> stale_topics() const {
        std::vector<bool> stale(topics_.size());
        for (std::uint32_t k = 0; k < topics_.size(); ++k) {
            auto const& topic = rules_.topics()[k];
            if (topic.kind != Topic::Kind::stale_value || !is_single(topic)) continue;
            for (std::uint32_t t = 0; t < program_.threads.size(); ++t)
                stale[k] = stale[k] || misses(topic, machine_.monitor().current(t));
        }
        return stale;
    }

    void compare() {
        auto const& monitor = machine_.monitor();
        for (std::uint32_t k = 0; k < topics_.size(); ++k) {
            auto const& topic = rules_.topics()[k];
            if (topic.kind != Topic::Kind::stale_value || !topics_[k].woken) continue;
            ++compared_;
            for (std::uint32_t t = 0; t < program_.threads.size(); ++t) {
                if (can_tell(topic, monitor.current(t)))
                    CHECK(is_stale(k, t) == misses(topic, monitor.current(t)));
                auto const aware = monitor.aware(t, topic.cell);
                CHECK(is_aware(k, t) == ((state_[aware.word] & aware.bits) != 0));
            }
        }
        for (std::uint32_t t = 0; t < program_.threads.size(); ++t) {
            for (auto const& i : program_.threads[t].code) {
                if (i.is_access() && i.op != Op::sc_fence) compare_violations(t, i);
            }
        }
        if (Rules::parts.modes) compare_races();
    }

    // With other values in the registers each time. What is exclusive about values is seen by nobody else.
    void compare_violations(std::uint32_t t, Instruction const& i) {
        auto state = state_;
        for (auto r : {plain_register, turn_register})
            machine_.register_field(t, r).set(state.data(), chance_.below(max_value + 1));
        auto const pc = static_cast<std::uint32_t>(&i - program_.threads[t].code.data());
        auto const access = machine_.access_at(state.data(), t, pc);
        bool any = false;
        for (std::uint32_t k = 0; k < topics_.size(); ++k) {
            auto const& topic = rules_.topics()[k];
            bool const asks = rules_.asks(topic, machine_, state.data(), t, access);
            CHECK(!asks || rules_.may_ask(topic, i));
            if (topic.kind != Topic::Kind::stale_value || !topics_[k].woken) continue;
            bool const bounded = rules_.bounds(topic, t, i, topics_[k].bits.data());
            any = any || (asks && is_stale(k, t) && is_aware(k, t) && !bounded);
        }
        CHECK(violation_mask(machine_, state.data(), t, access).holds(state.data()) == any);
    }

    void compare_races() {
        auto const& monitor = machine_.monitor();
        for (std::uint32_t t = 0; t < program_.threads.size(); ++t) {
            for (auto const& i : program_.threads[t].code) {
                if (!i.is_access()) continue;
                auto const pc = static_cast<std::uint32_t>(&i - program_.threads[t].code.data());
                auto const access = machine_.access_at(state_.data(), t, pc);
                bool any = false;
                for (std::uint32_t k = 0; k < topics_.size(); ++k) {
                    auto const& topic = rules_.topics()[k];
                    if (topic.kind == Topic::Kind::stale_value || !topics_[k].woken) continue;
                    CHECK(is_aware(k, t));
                    any = any || (rules_.asks(topic, machine_, state_.data(), t, access) && is_stale(k, t));
                }
                auto const missed = [&] {
                    return monitor.views().missed(state_.data(), monitor.current(t), i.first_cell,
                                                  i.op == Op::store);
                };
                CHECK(any == (i.non_atomic && missed().has_value()));
            }
        }
    }

    Chance chance_;
    Program const& program_;
    Machine<PackedMonitor<Rules>> machine_;
    TopicRules rules_;
    State state_;
    std::vector<BitPermutation> moves_;
    std::vector<OneTopic> topics_;
    std::size_t compared_ = 0;
};

template <class Rules>
void check_model(Model model) {
    Sorted count;
    std::size_t compared = 0;
    // The rules of S need more programs.
    std::uint64_t const seeds = 100, seeds_of_topics = Rules::parts.order ? 300 : 100;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        SymmetricProgram const small(seed, Rules::parts.order, 2);
        sorts_to_reachable_states<PackedMonitor<Rules>>(small.program(), count);
    }
    for (std::uint64_t seed = 0; seed < seeds_of_topics; ++seed) {
        SymmetricProgram const larger(seed, Rules::parts.order, 4);
        compared += Both<Rules>(larger.program(), model, seed).run(100);
    }
    std::printf("%s: %zu states, %zu sorted; %zu topics compared\n", Rules::name, count.states, count.kept,
                compared);
    CHECK(count.states > 5000 && count.kept * 10 < count.states * 7);
    CHECK(compared > 10000);
}

}  // namespace

int main() {
    check_model<Ra>(Model{1});
    check_model<Rc20>(Model{2});
    check_model<Cpp20>(Model{3});
}
