// Symmetry: of the states that exchanges of equal threads, or rotations of values, turn into each other, one
// is enough.
//
// An exchange of two threads, with the cells and values that are their own, maps the program to itself
// (src/fencepost/static/symmetry.py). So it maps runs to runs of the same length, and what is found after one
// to what is found after the other. That includes monitors: each of their parts belongs to a thread, a cell
// or a value, and is exchanged with it. A state is replaced by one in which the threads of each group are
// sorted. Two threads that look alike are left as they are, and more states than necessary are kept.
//
// A rotation of values (src/fencepost/static/rotations.py) maps the program to itself as well. A state is
// replaced by one in which the pivot, a cell with such a value, is less than a step of the rotation.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/machine/machine.hpp"

namespace fencepost {

template <class Monitor>
class Symmetry {
  public:
    explicit Symmetry(Machine<Monitor> const& machine) : machine_(machine) {
        std::uint32_t number = 0;
        for (auto const& e : machine.program().exchanges) {
            if (groups_.empty() || groups_.back().back().second != e.first) groups_.emplace_back();
            groups_.back().push_back(make(e, number++));
        }
        for (auto const& r : machine.program().rotations) turns_.push_back(make(r, number));
    }

    bool empty() const { return groups_.empty() && turns_.empty(); }
    bool exchanges_threads() const { return !groups_.empty(); }

    // Turns the pivots of rotations back and sorts the threads of each group; calls `renamed` with the number
    // of each renaming that it makes.
    template <class Renamed>
    void sort(Word* state, Renamed renamed) const {
        for (auto const& turn : turns_) turn_back(state, turn, renamed);
        for (auto const& group : groups_) {
            // After a step one thread is out of order, so mostly one round forth and back is enough.
            bool sorted = false;
            auto const put_in_order = [&](Swap const& swap) {
                if (!is_out_of_order(state, swap)) return;
                apply(state, swap);
                renamed(swap.number);
                sorted = false;
            };
            for (std::size_t round = 0; round < group.size() && !sorted; ++round) {
                sorted = true;
                std::for_each(group.begin(), group.end(), put_in_order);
                if (!sorted) std::for_each(group.rbegin(), group.rend(), put_in_order);
            }
        }
    }

    // The exchanges, a bit for each of the first 64, after which program state and memory are the same as
    // before.
    std::uint64_t keeping(Word const* state) const {
        std::uint64_t found = 0;
        std::vector<Word> exchanged;
        for (auto const& group : groups_) {
            for (auto const& swap : group) {
                if (swap.number >= 64 || !looks_alike(state, swap)) continue;
                exchanged.assign(state, state + machine_.words());
                apply(exchanged.data(), swap);
                if (same_words(exchanged.data(), state, machine_.key_words()))
                    found |= std::uint64_t{1} << swap.number;
            }
        }
        return found;
    }

  private:
    struct RenamedValues {
        Field field;
        Value first, second;
    };
    struct Swap {
        std::uint32_t number;         // among the program's exchanges
        std::uint32_t first, second;  // threads
        BitPermutation bits;
        std::vector<RenamedValues> cells;
        std::vector<std::vector<std::vector<RenamedValues>>> registers;  // per thread and point
        // What the two threads have of their own: in program state and memory, and in the monitor.
        std::vector<std::pair<Field, Field>> compared, compared_last;
    };

    // Of a rotation 1, 2, 4, … steps on and as many back, which are numbered in this order.
    struct Turn {
        std::uint32_t number;  // of the first of them
        Rotation const& rotation;
        Field pivot;
        std::vector<BitPermutation> bits;
        std::vector<Field> cells;
        std::vector<std::vector<std::vector<Field>>> registers;  // per thread and point
    };

    Turn make(Rotation const& r, std::uint32_t& number) const {
        Turn turn{number, r, machine_.cell_field(r.pivot), {}, {}, {}};
        auto const& program = machine_.program();
        for (auto x : r.cells) turn.cells.push_back(machine_.cell_field(x));
        for (auto const& thread : program.threads) turn.registers.emplace_back(thread.diverged() + 1);
        for (auto const& [t, pc, reg] : r.registers) {
            if (auto const point = program.threads[t].point_of[pc]; point != none)
                turn.registers[t][point].push_back(machine_.register_field(t, reg));
        }
        for (Value steps = 1; steps < r.order(); steps *= 2) {
            for (auto by : {steps, r.order() - steps}) {
                Renaming const renaming(program, r, by);
                auto& bits = turn.bits.emplace_back();
                for (std::uint32_t x = 0; x < program.fence_cell(); ++x)
                    bits.add(machine_.cell_field(x), machine_.cell_field(renaming.cell(x)));
                machine_.monitor().add_renaming(renaming, bits);
                bits.finish();
                ++number;
            }
        }
        return turn;
    }

    template <class Renamed>
    void turn_back(Word* state, Turn const& turn, Renamed renamed) const {
        auto const& r = turn.rotation;
        auto const order = r.order();
        auto back = r.lift ? ahead(state, turn) : turn.pivot.get(state) / r.step % order;
        if (back == 0) return;
        auto const rename = [&](Field const& field) {
            auto const v = field.get(state);
            field.set(state, r.lift ? r.lift->moved_back(v, back) : r.moved(v, order - back));
        };
        for (auto const& cell : turn.cells) rename(cell);
        for (std::uint32_t t = 0; t < turn.registers.size(); ++t) {
            for (auto const& reg : turn.registers[t][machine_.point(state, t)]) rename(reg);
        }
        // The rest moves by powers of two, on or back, whichever is nearer.
        bool const on = back > order - back;
        if (on) back = order - back;
        for (std::uint32_t i = 0; back != 0; ++i, back /= 2) {
            if (back % 2 == 0) continue;
            auto const n = 2 * i + (on ? 0 : 1);
            turn.bits[n].apply(state);
            renamed(turn.number + n);
        }
    }

    // How far the pivot of a translation has come since the last step.
    static Value ahead(Word const* state, Turn const& turn) {
        auto const v = turn.pivot.get(state), base = turn.rotation.lift->base;
        if (v < base) throw ValueOutOfRange(0, 0);
        return v - base;
    }

    Swap make(Exchange const& e, std::uint32_t number) const {
        Swap swap{number, e.first, e.second, {}, {}, {}, {}, {}};
        auto const& program = machine_.program();
        std::vector<bool> renamed(program.cells.size());
        std::vector<bool> renamed_register(program.threads[e.first].registers);
        swap.registers.resize(program.threads.size());
        for (std::size_t t = 0; t < program.threads.size(); ++t)
            swap.registers[t].resize(program.threads[t].diverged() + 1);
        for (auto const& values : e.values) {
            for (auto x : values.cells) {
                renamed[x] = true;
                swap.cells.push_back({machine_.cell_field(x), values.first, values.second});
            }
            for (auto const& [t, pc, reg] : values.registers) {
                auto const point = program.threads[t].point_of[pc];
                if (point == none) continue;
                if (t == e.first) renamed_register[reg] = true;
                swap.registers[t][point].push_back(
                    {machine_.register_field(t, reg), values.first, values.second});
            }
        }
        auto const exchange = [&](Field const& a, Field const& b, bool compared) {
            swap.bits.add(a, b);
            swap.bits.add(b, a);
            if (compared) swap.compared.emplace_back(a, b);
        };
        exchange(machine_.point_field(e.first), machine_.point_field(e.second), true);
        for (std::uint32_t r = 0; r < renamed_register.size(); ++r)
            exchange(machine_.register_field(e.first, r), machine_.register_field(e.second, r),
                     !renamed_register[r]);
        for (std::uint32_t r = 0; r < renamed_register.size(); ++r)
            exchange(machine_.taint_field(e.first, r), machine_.taint_field(e.second, r), true);
        for (auto const& [x, y] : e.cells)
            exchange(machine_.cell_field(x), machine_.cell_field(y), !renamed[x]);
        machine_.monitor().add_renaming(Renaming(program, e), swap.bits);
        swap.bits.finish();
        auto const first = machine_.monitor().fields_of_thread(e.first);
        auto const second = machine_.monitor().fields_of_thread(e.second);
        for (std::size_t i = 0; i < first.size(); ++i) swap.compared_last.emplace_back(first[i], second[i]);
        return swap;
    }

    // Whether the two threads have the same of their own, in program state and memory.
    bool looks_alike(Word const* state, Swap const& swap) const {
        return std::all_of(swap.compared.begin(), swap.compared.end(),
                           [&](auto const& pair) { return pair.first.get(state) == pair.second.get(state); });
    }
    bool is_out_of_order(Word const* state, Swap const& swap) const {
        for (auto const& [a, b] : swap.compared) {
            if (a.get(state) != b.get(state)) return a.get(state) > b.get(state);
        }
        // The threads whose values stand in cells come first.
        for (auto const& cell : swap.cells) {
            auto const v = cell.field.get(state);
            if (v == cell.first || v == cell.second) return v == cell.second;
        }
        for (auto const& [a, b] : swap.compared_last) {
            if (a.get(state) != b.get(state)) return a.get(state) > b.get(state);
        }
        return false;
    }

    void apply(Word* state, Swap const& swap) const {
        swap.bits.apply(state);
        for (auto const& cell : swap.cells) rename(state, cell);
        for (std::uint32_t t = 0; t < swap.registers.size(); ++t) {
            for (auto const& reg : swap.registers[t][machine_.point(state, t)]) rename(state, reg);
        }
    }

    static void rename(Word* state, RenamedValues const& renamed) {
        auto const v = renamed.field.get(state);
        if (v == renamed.first) {
            renamed.field.set(state, renamed.second);
        } else if (v == renamed.second) {
            renamed.field.set(state, renamed.first);
        }
    }

    Machine<Monitor> const& machine_;
    std::vector<std::vector<Swap>> groups_;
    std::vector<Turn> turns_;
};

}  // namespace fencepost
