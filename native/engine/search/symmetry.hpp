// Symmetry: of the states that exchanges of equal threads turn into each other, one is enough.
//
// An exchange of two threads, with the cells and values that are their own, maps the program to itself
// (src/fencepost/static/symmetry.py). So it maps runs to runs of the same length, and what is found after one
// to what is found after the other. That includes monitors: each of their parts belongs to a thread, a cell
// or a value, and is exchanged with it. A state is replaced by one in which the threads of each group are
// sorted. Two threads that look alike are left as they are, and more states than necessary are kept.
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
    }

    bool empty() const { return groups_.empty(); }

    // Sorts the threads of each group; calls `exchanged` with the number of each exchange that it makes.
    template <class Exchanged>
    void sort(Word* state, Exchanged exchanged) const {
        for (auto const& group : groups_) {
            // After a step one thread is out of order, so mostly one round forth and back is enough.
            bool sorted = false;
            auto const put_in_order = [&](Swap const& swap) {
                if (!is_out_of_order(state, swap)) return;
                apply(state, swap);
                exchanged(swap.number);
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
        BitSwaps bits;
        std::vector<RenamedValues> cells;
        std::vector<std::vector<std::vector<RenamedValues>>> registers;  // per thread and point
        // What the two threads have of their own: in program state and memory, and in the monitor.
        std::vector<std::pair<Field, Field>> compared, compared_last;
    };

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
        machine_.monitor().add_exchange(e, swap.bits);
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
};

}  // namespace fencepost
