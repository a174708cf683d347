// How a program runs under sequential consistency, over packed states with a monitor in them.
//
// A state says for each thread at which access it stands, the values of all registers and cells, and what
// the monitor knows. A step is one access of one thread and all its local instructions up to the next access
// (rocker-2019, Definition 2.4). It has several successors only if the program chooses between some.
#pragma once

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "engine/machine/evaluate.hpp"
#include "engine/machine/event.hpp"
#include "engine/program/bytecode.hpp"
#include "engine/state/layout.hpp"

namespace fencepost {

// A list of states, reused so that stepping does not allocate.
class StateList {
  public:
    explicit StateList(std::size_t words) : words_(words) {}
    std::size_t size() const { return size_; }
    void clear() { size_ = 0; }
    Word* operator[](std::size_t n) { return data_.data() + n * words_; }
    // A new last state, a copy of `from`, which must not be in this list.
    [[gnu::always_inline]] Word* push(Word const* from) {
        if ((size_ + 1) * words_ > data_.size()) grow();
        Word* const added = (*this)[size_++];
        copy_words(added, from, words_);
        return added;
    }
    void pop() { --size_; }

  private:
    [[gnu::noinline]] void grow() { data_.resize(std::max(data_.size() * 2, 64 * words_)); }

    std::size_t words_;
    std::size_t size_ = 0;
    std::vector<Word> data_;
};

// A tainted use is no mistake of the program, but a violation (Machine::check_use).
enum class FailureKind : std::uint8_t { assertion, division_by_zero, index_out_of_range, tainted_use };

// Where the program itself goes wrong. A step tells the first failure that it meets, but a tainted use before
// all others.
struct Failure {
    FailureKind kind;
    std::uint32_t thread;
    std::uint32_t pc;
    std::vector<Value> registers;
    Events trace;              // since the last access, if asked for
    std::uint32_t reg = none;  // of a tainted use

    bool is_tainted_use() const { return kind == FailureKind::tainted_use; }
};

// The next access of a thread with its operands.
struct Access {
    Instruction const* instruction = nullptr;
    std::uint32_t pc = 0;
    std::uint32_t cell = 0;
    Value first = 0;
    Value second = 0;
};

// A thread runs too many local instructions, or has too many choices, without reaching an access.
struct EndlessLocalRun : std::runtime_error {
    EndlessLocalRun(std::uint32_t t, std::uint32_t at, bool by_choices)
        : std::runtime_error(""), thread(t), pc(at), choices(by_choices) {}
    std::uint32_t thread, pc;
    bool choices;
};

// A value leaves the range of a program whose values do not wrap.
struct ValueOutOfRange : std::runtime_error {
    ValueOutOfRange(std::uint32_t t, std::uint32_t at) : std::runtime_error(""), thread(t), pc(at) {}
    std::uint32_t thread, pc;
};

// Where local instructions came to an end.
struct LocalStop {
    enum class Why : std::uint8_t { at_point, at_choice, never } why;
    std::uint32_t where;  // the point, or the pc of the choice, or of a jump to itself, or `none`
};

// The monitor that keeps nothing, for plain sequential consistency. It has all the members that every monitor
// needs.
struct NoMonitor {
    static constexpr bool watches = false;    // it knows when an access is a violation
    static constexpr bool has_modes = false;  // it tells the modes of accesses apart, and knows weak fences
    static constexpr bool has_views = false;  // it keeps stale values

    NoMonitor(Program const&, Layout&) {}
    void start(Word*) const {}
    void apply(auto&, MonitorEvent const&) const {}

    // What a renaming does to its bits, and what it has for a thread alone.
    void add_renaming(Renaming const&, BitPermutation&) const {}
    std::vector<Field> fields_of_thread(std::uint32_t) const { return {}; }
};

template <class Monitor>
class Machine;

// What a does in `state`, where it is not blocked.
template <class Monitor>
Event event_of(Machine<Monitor> const& machine, Word const* state, std::uint32_t t, Access const& a) {
    using enum EventKind;
    Value const old = machine.cell(state, a.cell);
    if (a.instruction->op == Op::sc_fence) return {t, a.pc, fence, a.cell, old, 0};
    auto const written = machine.written(state, a);
    if (!written) return {t, a.pc, read, a.cell, old, 0, machine.taints(state, t, a)};
    return {t, a.pc, a.instruction->op == Op::store ? write : read_modify_write, a.cell, old, *written};
}

template <class Monitor>
class Machine {
  public:
    // `of_monitor` is what the monitor asks for beside the program.
    template <class... OfMonitor>
    explicit Machine(Program const& program, OfMonitor const&... of_monitor)
        : Machine(Layout(), program, of_monitor...) {}

    Program const& program() const { return program_; }
    Monitor const& monitor() const { return monitor_; }
    std::size_t words() const { return words_; }
    // Program state and memory are in the first words, the monitor in the others.
    std::size_t key_words() const { return key_words_; }

    // What a monitor adds to the key: states are told apart by it as by program state and memory.
    Field const& monitor_key() const { return monitor_key_; }

    // All states in which the threads stand at their first accesses, and on demand for each of them what
    // happened before.
    void start(StateList& out, std::optional<Failure>& failure, std::vector<Events>* traces = nullptr) const {
        StateList now(words_), next(words_);
        std::vector<Events> before(1), after;
        now.push(blank().data());
        for (std::uint32_t t = 0; t < program_.threads.size(); ++t) {
            next.clear();
            after.clear();
            for (std::size_t n = 0; n < now.size(); ++n) {
                next.push(now[n]);
                auto const known = after.size();
                settle(next, t, 0, failure, &after);
                for (auto i = known; i < after.size(); ++i)
                    after[i].insert(after[i].begin(), before[n].begin(), before[n].end());
                if (next.size() > most_initial_states) throw EndlessLocalRun(t, 0, true);
            }
            std::swap(now, next);
            std::swap(before, after);
        }
        for (std::size_t n = 0; n < now.size(); ++n) out.push(now[n]);
        if (traces != nullptr) *traces = std::move(before);
    }
    // The states in which t stands at its first access and nobody else has run.
    void start_alone(std::uint32_t t, StateList& out, std::optional<Failure>& failure) const {
        out.push(blank().data());
        settle(out, t, 0, failure, nullptr);
    }

    // Appends the states that the next access of t leads to, none if it is blocked, and on demand for each of
    // them the fences and local accesses on the way.
    void step(Word const* state, std::uint32_t t, Access const& access, StateList& out,
              std::optional<Failure>& failure, std::vector<Events>* traces = nullptr) const {
        Word* const next = out.push(state);
        if (perform(next, t, access)) {
            settle(out, t, access.pc + 1, failure, traces);
        } else {
            out.pop();
        }
    }

    // The access at which t stands; nothing if it has none any more.
    std::optional<Access> next_access(Word const* state, std::uint32_t t) const {
        auto const& thread = program_.threads[t];
        auto const at = points_[t].get(state);
        if (at >= thread.accesses.size()) return std::nullopt;
        return access_at(state, t, thread.accesses[at]);
    }
    // The access at pc, at which t can stand.
    Access access_at(Word const* state, std::uint32_t t, std::uint32_t pc) const {
        Access a;
        a.pc = pc;
        a.instruction = &program_.threads[t].code[pc];
        auto const& i = *a.instruction;
        a.cell = i.first_cell;
        if (i.index != none) a.cell += static_cast<std::uint32_t>(number(state, t, i.index));
        if (i.first != none) a.first = value(state, t, i.first);
        if (i.second != none) a.second = value(state, t, i.second);
        return a;
    }

    // The access itself, without what follows; false, with the state untouched, if it is blocked.
    bool perform(Word* state, std::uint32_t t, Access const& a) const {
        if (!enabled(state, t, a)) return false;
        auto const old = memory_[a.cell].get(state);
        bool const tainting = taints(state, t, a);
        inform(state, t, a, old, change(state, t, a, old), tainting);
        set_taint(state, t, a.instruction->reg, tainting);
        return true;
    }

    // Whether the access is a load that could read a stale value, and taints its register for that.
    bool taints([[maybe_unused]] Word const* state, [[maybe_unused]] std::uint32_t t, Access const& a) const {
        if constexpr (Monitor::watches) {
            return a.instruction->taints && violation_mask(*this, state, t, a).holds(state);
        } else {
            return false;
        }
    }

    // Tells the monitor about the access, which has found `old`; in a state, or in an update of states.
    void inform(auto& state, std::uint32_t t, Access const& a, Value old, bool writes, bool tainting) const {
        using enum MonitorEvent::Kind;
        auto const& i = *a.instruction;
        MonitorEvent event{
            read, t, a.cell, writes ? i.acquire : i.acquire_alone, i.release, writes ? i.sc : i.sc_alone};
        if (i.op == Op::sc_fence) {
            event = {sc_fence, t, a.cell};
        } else if (i.non_atomic) {
            event.kind = writes ? non_atomic_write : non_atomic_read;
        } else if (writes) {
            event.kind = i.op == Op::store ? write : read_modify_write;
            if constexpr (Monitor::has_views) event.old = program_.cells[a.cell].stale(old);
        } else if (tainting) {
            event.kind = tainting_read;
        }
        monitor_.apply(state, event);
    }

    // Whether the access can happen in this state.
    bool enabled(Word const* state, std::uint32_t t, Access const& a) const {
        auto const& i = *a.instruction;
        auto const now = memory_[a.cell].get(state);
        if (i.op == Op::blocking_compare_exchange) return now == a.first;
        return i.op != Op::wait ||
               std::ranges::any_of(i.many, [&](auto e) { return value(state, t, e) == now; });
    }

    // What the access writes in this state; nothing if it only reads, or is blocked.
    std::optional<Value> written(Word const* state, Access const& a) const {
        auto const old = memory_[a.cell].get(state);
        switch (a.instruction->op) {
            case Op::store:
            case Op::exchange:
                return a.first;
            case Op::fetch_add:
                return program_.reduce(static_cast<Wide>(old) + static_cast<Wide>(a.first));
            case Op::fetch_and:
                return old & a.first;
            case Op::fetch_or:
                return program_.reduce(static_cast<Wide>(old | a.first));
            case Op::fetch_xor:
                return program_.reduce(static_cast<Wide>(old ^ a.first));
            case Op::compare_exchange:
            case Op::blocking_compare_exchange:
                return old == a.first ? std::optional(a.second) : std::nullopt;
            default:
                return std::nullopt;
        }
    }

    // Runs the local instruction at pc, which is no choice: the pc that follows, or `none` if t ends there.
    std::uint32_t advance(Word* state, std::uint32_t t, std::uint32_t pc, std::optional<Failure>& failure,
                          Events* trace = nullptr) const {
        auto const& i = program_.threads[t].code[pc];
        auto const fail = [&](FailureKind kind) {
            note(failure, {kind, t, pc, registers(state, t), {}}, trace);
            return none;
        };
        check_use(state, t, pc, i.used, failure, trace);
        if (i.local) {
            if (auto const kind = arrival_failure(state, t, pc)) return fail(*kind);
            return act_alone(state, t, access_at(state, t, pc), trace) ? pc + 1 : none;
        }
        switch (i.op) {
            case Op::assign: {
                auto const v = try_number(state, t, i.first);
                if (!v) return fail(FailureKind::division_by_zero);
                require_in_range(*v, t, pc);
                set_taint(state, t, i.reg, is_tainted(state, t, i.first));
                assign(state, t, i.reg, program_.reduce(*v));
                return pc + 1;
            }
            case Op::branch:
            case Op::assert_:
            case Op::assume: {
                auto const v = try_number(state, t, i.first);
                if (!v) return fail(FailureKind::division_by_zero);
                if (i.op == Op::assume && *v == 0) return none;
                if (i.op == Op::assert_ && *v == 0) fail(FailureKind::assertion);
                return i.op == Op::branch && *v != 0 ? i.target : pc + 1;
            }
            case Op::go_to:
                return i.target;
            default:
                if (i.is_fence()) {
                    monitor_.apply(state, MonitorEvent::fence(t, i));
                    if (trace != nullptr) trace->push_back({t, pc, EventKind::fence, none, 0, 0});
                }
                return pc + 1;
        }
    }

    // Puts t, which has run up to the access at pc, there; false if it cannot stand there.
    bool arrive(Word* state, std::uint32_t t, std::uint32_t pc) const {
        auto const& thread = program_.threads[t];
        if (thread.code[pc].can_fail && arrival_failure(state, t, pc)) return false;
        stand(state, t, thread.point_of[pc]);
        return true;
    }

    // Ends t, whatever it still had to do.
    void retire(Word* state, std::uint32_t t) const {
        points_[t].set(state, program_.threads[t].ended());
        for (auto const& field : registers_[t]) field.set(state, 0);
        for (std::uint32_t r = 0; r < taints_[t].size(); ++r) set_taint(state, t, r, false);
    }

    // The values that a `wait` of t waits for.
    std::vector<Value> awaited(Word const* state, std::uint32_t t, Instruction const& wait) const {
        std::vector<Value> values;
        for (auto e : wait.many) values.push_back(value(state, t, e));
        return values;
    }

    // What belongs to t alone: its point, its registers with their taints, and the cells that its local
    // accesses use.
    BitSelection own_bits(std::uint32_t t) const {
        BitSelection own;
        auto const add = [&](Field const& field) { own.add(field, field.mask); };
        add(points_[t]);
        for (auto const& field : registers_[t]) add(field);
        for (auto const& field : taints_[t]) add(field);
        for (auto const& i : program_.threads[t].code) {
            if (!i.local) continue;
            for (auto x = i.first_cell; x < i.first_cell + i.cells; ++x) add(memory_[x]);
        }
        return own;
    }

    std::uint32_t point(Word const* state, std::uint32_t t) const {
        return static_cast<std::uint32_t>(points_[t].get(state));
    }
    Field const& point_field(std::uint32_t t) const { return points_[t]; }
    Field const& register_field(std::uint32_t t, std::uint32_t r) const { return registers_[t][r]; }
    Field const& taint_field(std::uint32_t t, std::uint32_t r) const { return taints_[t][r]; }
    Field const& cell_field(std::uint32_t x) const { return memory_[x]; }
    Value cell(Word const* state, std::uint32_t x) const { return memory_[x].get(state); }
    void set_cell(Word* state, std::uint32_t x, Value v) const { memory_[x].set(state, v); }
    std::vector<Value> registers(Word const* state, std::uint32_t t) const {
        std::vector<Value> values;
        for (auto const& field : registers_[t]) values.push_back(field.get(state));
        return values;
    }

  private:
    static constexpr std::uint64_t longest_local_run = std::uint64_t{1} << 25;
    static constexpr std::size_t most_choices = std::size_t{1} << 12;
    static constexpr std::size_t most_initial_states = std::size_t{1} << 16;

    template <class... OfMonitor>
    Machine(Layout layout, Program const& program, OfMonitor const&... of_monitor)
        : program_(program),
          monitor_((allocate(layout), program), layout, of_monitor...),
          words_(layout.words()) {}

    // The state before any thread has run.
    std::vector<Word> blank() const {
        std::vector<Word> state(words_, 0);
        for (std::size_t x = 0; x < memory_.size(); ++x)
            memory_[x].set(state.data(), program_.cells[x].initial);
        monitor_.start(state.data());
        return state;
    }

    // Program state and memory come first, and share no word with the monitor.
    void allocate(Layout& layout) {
        auto const value_bits = bits_for(program_.max_value);
        for (auto const& thread : program_.threads) {
            std::vector<unsigned> sizes(thread.registers + 1, value_bits);
            sizes[0] = bits_for(thread.diverged());
            sizes.resize(1 + 2 * thread.registers, 0);
            for (auto r : thread.taintable) sizes[1 + thread.registers + r] = 1;
            auto const fields = layout.allocate_together(sizes);
            auto const first_taint = fields.begin() + 1 + thread.registers;
            points_.push_back(fields.front());
            auto& registers = registers_.emplace_back(fields.begin() + 1, first_taint);
            auto& taints = taints_.emplace_back(first_taint, fields.end());
            auto& dead = dead_.emplace_back();
            auto const add_point = [&](std::vector<std::uint32_t> const& forgotten) {
                auto& selection = dead.emplace_back();
                for (auto r : forgotten) {
                    selection.add(registers[r], registers[r].mask);
                    selection.add(taints[r], taints[r].mask);
                }
            };
            for (auto pc : thread.accesses) add_point(thread.code[pc].dead);
            add_point(thread.dead_at_end);
        }
        for (std::uint32_t x = 0; x < program_.fence_cell(); ++x)
            memory_.push_back(layout.allocate(value_bits));
        memory_.push_back(Field{});  // the reserved cell is always 0
        if constexpr (requires { Monitor::largest_key(program_); }) {
            monitor_key_ = layout.allocate(bits_for(Monitor::largest_key(program_)));
        }
        layout.close_words();
        key_words_ = layout.words();
    }

    std::optional<Wide> try_number(Word const* state, std::uint32_t t, std::uint32_t expression) const {
        return evaluate(program_.expressions[expression], state, registers_[t].data());
    }
    // For operands of an access at which t stands; `arrival_failure` has checked that they have a value.
    Wide number(Word const* state, std::uint32_t t, std::uint32_t expression) const {
        return *try_number(state, t, expression);
    }
    Value value(Word const* state, std::uint32_t t, std::uint32_t expression) const {
        return program_.reduce(number(state, t, expression));
    }

    void assign(Word* state, std::uint32_t t, std::uint32_t reg, Value v) const {
        if (reg != none) registers_[t][reg].set(state, v);
    }

    void require_in_range(Wide v, std::uint32_t t, std::uint32_t pc) const {
        if (!program_.wraps && !program_.in_range(v)) throw ValueOutOfRange(t, pc);
    }

    // What the access, which is not blocked and finds `old`, does to memory and registers; whether it writes.
    bool change(Word* state, std::uint32_t t, Access const& a, Value old) const {
        auto const& i = *a.instruction;
        if (i.op == Op::fetch_add)
            require_in_range(static_cast<Wide>(old) + number(state, t, i.first), t, a.pc);
        auto const written = this->written(state, a);
        if (written) memory_[a.cell].set(state, *written);
        assign(state, t, i.reg, old);
        return written.has_value();
    }

    // A local access; false if it is blocked, and then it is blocked for ever. The monitor only hears of the
    // fences in an SC fence.
    bool act_alone(Word* state, std::uint32_t t, Access const& a, Events* trace) const {
        auto const& i = *a.instruction;
        if (!enabled(state, t, a)) return false;
        if (trace != nullptr) trace->push_back(event_of(*this, state, t, a));
        change(state, t, a, memory_[a.cell].get(state));
        set_taint(state, t, i.reg, false);
        if (i.op == Op::sc_fence) monitor_.apply(state, MonitorEvent::fence(t, i));
        return true;
    }

    void note(std::optional<Failure>& failure, Failure found, Events const* trace) const {
        if (failure && (failure->is_tainted_use() || !found.is_tainted_use())) return;
        if (trace != nullptr) found.trace = *trace;
        failure = std::move(found);
    }

    // The value of a tainted register must not show: under the model, it may be another one.
    void check_use(Word const* state, std::uint32_t t, std::uint32_t pc,
                   std::vector<std::uint32_t> const& used, std::optional<Failure>& failure,
                   Events const* trace) const {
        for (auto r : used) {
            if (taints_[t][r].get(state) != 0)
                note(failure, {FailureKind::tainted_use, t, pc, registers(state, t), {}, r}, trace);
        }
    }
    void set_taint(Word* state, std::uint32_t t, std::uint32_t reg, bool tainted) const {
        if (reg != none) taints_[t][reg].set(state, tainted & taints_[t][reg].mask);
    }
    bool is_tainted(Word const* state, std::uint32_t t, std::uint32_t expression) const {
        if (program_.threads[t].taintable.empty()) return false;
        auto const& steps = program_.expressions[expression].steps;
        return std::ranges::any_of(steps, [&](ExpressionStep const& step) {
            return step.op == ExpressionOp::push_register && taints_[t][step.operand].get(state) != 0;
        });
    }

    // Runs local instructions of t from pc on.
    LocalStop run_local(Word* state, std::uint32_t t, std::uint32_t pc, std::optional<Failure>& failure,
                        Events* trace) const {
        auto const& thread = program_.threads[t];
        using enum LocalStop::Why;
        auto const end = [&] {
            auto const at = static_cast<std::uint32_t>(thread.code.size());
            check_use(state, t, at, thread.used_at_end, failure, trace);
            return LocalStop{at_point, thread.ended()};
        };
        std::vector<Word> earlier;  // for finding a cycle (Brent): the state after 64, 128, 256, … steps
        std::uint32_t earlier_pc = none;
        for (std::uint64_t steps = 1;; ++steps) {
            if (pc == thread.code.size()) return end();
            auto const& i = thread.code[pc];
            if (i.is_access()) {
                check_use(state, t, pc, i.used, failure, trace);
                if (i.can_fail) {
                    if (auto const kind = arrival_failure(state, t, pc)) {
                        note(failure, {*kind, t, pc, registers(state, t), {}}, trace);
                        return end();
                    }
                }
                return {at_point, thread.point_of[pc]};
            }
            if (i.op == Op::choose) return {at_choice, pc};
            auto const from = std::exchange(pc, advance(state, t, pc, failure, trace));
            if (pc == none) return end();
            if (pc == from) return {never, pc};  // a jump to itself changes nothing
            if (steps < 64) continue;
            if (pc == earlier_pc && same_words(earlier.data(), state, words_)) return {never, none};
            if ((steps & (steps - 1)) == 0) {
                if (steps >= longest_local_run) throw EndlessLocalRun(t, pc, false);
                earlier.assign(state, state + words_);
                earlier_pc = pc;
            }
        }
    }

    // Why t cannot stand at this access: an operand divides by 0, or the index is out of range.
    std::optional<FailureKind> arrival_failure(Word const* state, std::uint32_t t, std::uint32_t pc) const {
        auto const& i = program_.threads[t].code[pc];
        auto const fails = [&](std::uint32_t e) {
            auto const v = try_number(state, t, e);
            if (v && i.op != Op::fetch_add) require_in_range(*v, t, pc);  // there the sum counts
            return !v;
        };
        if (i.index != none) {
            auto const index = try_number(state, t, i.index);
            if (!index) return FailureKind::division_by_zero;
            if (*index < 0 || *index >= static_cast<Wide>(i.cells)) return FailureKind::index_out_of_range;
        }
        for (auto e : {i.first, i.second}) {
            if (e != none && fails(e)) return FailureKind::division_by_zero;
        }
        for (auto e : i.many) {
            if (fails(e)) return FailureKind::division_by_zero;
        }
        return std::nullopt;
    }

    // Lets t, which has the last state of `out` to itself, run from pc to its next access. With choices on
    // the way that state is replaced by one for each access that can be reached.
    void settle(StateList& out, std::uint32_t t, std::uint32_t pc, std::optional<Failure>& failure,
                std::vector<Events>* traces) const {
        Word* const state = out[out.size() - 1];
        Events trace;
        auto const stop = run_local(state, t, pc, failure, traces == nullptr ? nullptr : &trace);
        if (stop.why == LocalStop::Why::at_choice) {
            settle_choices(out, t, stop.where, failure, trace, traces);
            return;
        }
        if (stop.why == LocalStop::Why::at_point) {
            stand(state, t, stop.where);
        } else {
            diverge(state, t);
            if (stop.where == none) trace.clear();  // an endless local run is not shown
        }
        if (traces != nullptr) traces->push_back(std::move(trace));
    }

    void stand(Word* state, std::uint32_t t, std::uint32_t point) const {
        points_[t].set(state, point);
        dead_[t][point].clear(state);
    }

    void diverge(Word* state, std::uint32_t t) const {
        retire(state, t);
        points_[t].set(state, program_.threads[t].diverged());
    }

    // At a choice, so that states which differ in dead registers alone go on in the same order when values or
    // threads are renamed (search/symmetry.hpp).
    void forget(Word* state, std::uint32_t t, std::uint32_t pc) const {
        for (auto reg : program_.threads[t].code[pc].dead) {
            registers_[t][reg].set(state, 0);
            set_taint(state, t, reg, false);
        }
    }

    void settle_choices(StateList& out, std::uint32_t t, std::uint32_t choice,
                        std::optional<Failure>& failure, Events const& trace,
                        std::vector<Events>* traces) const {
        using ChoiceAt = std::pair<std::uint32_t, std::vector<Word>>;  // a choice and the state there
        Word* const first = out[out.size() - 1];
        forget(first, t, choice);
        std::vector<std::pair<ChoiceAt, Events>> open{{{choice, {first, first + words_}}, trace}};
        std::pair stuck(open.front().first.second, trace);  // if nothing is settled: at a jump to itself
        bool jumps_to_itself = false;
        std::set<ChoiceAt> met{open.front().first};
        std::set<std::vector<Word>> settled;
        auto const add = [&](std::vector<Word> const& state, Events const& way) {
            out.push(state.data());
            if (traces != nullptr) traces->push_back(way);
        };
        out.pop();
        while (!open.empty()) {
            auto const [here, way] = std::move(open.back());
            open.pop_back();
            for (auto target : program_.threads[t].code[here.first].many) {
                auto state = here.second;
                auto further = way;
                auto const stop =
                    run_local(state.data(), t, target, failure, traces == nullptr ? nullptr : &further);
                if (stop.why == LocalStop::Why::at_choice) {
                    if (met.size() >= most_choices) throw EndlessLocalRun(t, stop.where, true);
                    forget(state.data(), t, stop.where);
                    ChoiceAt next{stop.where, std::move(state)};
                    if (met.insert(next).second) open.emplace_back(std::move(next), std::move(further));
                } else if (stop.why == LocalStop::Why::at_point) {
                    stand(state.data(), t, stop.where);
                    if (settled.insert(state).second) add(state, further);
                } else if (stop.where != none && !std::exchange(jumps_to_itself, true)) {
                    stuck = {std::move(state), std::move(further)};
                }
            }
        }
        if (!settled.empty()) return;
        diverge(stuck.first.data(), t);
        add(stuck.first, stuck.second);
    }

    Program const& program_;
    std::vector<Field> points_;                    // per thread
    std::vector<std::vector<Field>> registers_;    // per thread
    std::vector<std::vector<Field>> taints_;       // per thread: whether a register is tainted
    std::vector<std::vector<BitSelection>> dead_;  // per thread and point: the registers that are dead there
    std::vector<Field> memory_;                    // per cell
    Field monitor_key_;
    std::size_t key_words_ = 0;
    Monitor monitor_;
    std::size_t words_;
};

}  // namespace fencepost
