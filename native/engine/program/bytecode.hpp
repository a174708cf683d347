// What the engine runs: the instructions of every thread, lowered from the Python representation
// (src/fencepost/engine/lower.py).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fencepost {

using Value = std::uint64_t;
__extension__ using Wide = __int128;

enum class ExpressionOp : std::uint8_t {
    push_constant,
    push_register,
    negate,
    logical_not,
    multiply,
    divide,
    remainder,
    add,
    subtract,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,
    bit_and,
    bit_xor,
    bit_or,
    to_bool,
    // If the top of the stack is 0 (and) or not 0 (or), make it 0 or 1 and jump; else drop it.
    and_jump,
    or_jump,
};

struct ExpressionStep {
    ExpressionOp op;
    Value operand;  // the constant, the register's number, or the step to jump to
};

constexpr std::size_t deepest_expression = 1024;  // values on the stack

// An expression over the registers of one thread. The lowering proves that the value of every part fits in
// 64 bits, signed, unless `wide` is set; then it fits in 128.
struct Expression {
    enum class Shape : std::uint8_t { constant, single_register, steps };
    Shape shape = Shape::constant;
    bool wide = false;
    bool can_fail = false;  // it divides, or its value may be out of range
    Value constant = 0;
    std::uint32_t register_number = 0;
    std::vector<ExpressionStep> steps;
};

enum class Op : std::uint8_t {
    assign,
    branch,
    go_to,
    choose,
    assert_,
    assume,
    skip,
    load,
    store,
    fetch_add,
    fetch_and,
    fetch_or,
    fetch_xor,
    exchange,
    compare_exchange,
    blocking_compare_exchange,
    wait,
    sc_fence,
    acquire_fence,
    release_fence,
    acquire_release_fence,
    drain,  // an SC fence that only a store buffer can notice: a local instruction
    // An SC fence of C++20: a local instruction, since it is ordered by what its thread knows already.
    order_fence,
};

// Whether the access replaces what it reads by a combination of that and its operand.
constexpr bool is_fetch(Op op) {
    return Op::fetch_add <= op && op <= Op::fetch_xor;
}

constexpr std::uint32_t none = UINT32_MAX;
// Sets of threads are the bits of a word. A program in text has fewer; this is with what templates stand for.
constexpr std::size_t most_threads = 64;

struct Instruction {
    Op op = Op::skip;
    bool acquire = false;        // the read part
    bool acquire_alone = false;  // the read part on its own: a load, a wait, a CAS that fails
    bool release = false;        // the write part
    bool sc = false;             // in the order of SC events: a store, an RMW
    bool sc_alone = false;       // the read part on its own
    bool non_atomic = false;
    bool local = false;               // an access, but other threads cannot see when it happens
    bool can_fail = false;            // an index may be out of range, or an expression divides by 0
    bool taints = false;              // a load: a stale value is no violation, but taints its register
    std::uint32_t reg = none;         // register that gets the result
    std::uint32_t first_cell = 0;     // the cell, or the first one of the array
    std::uint32_t cells = 1;          // size of the array
    std::uint32_t index = none;       // expression
    std::uint32_t first = none;       // expression: value, expected value, condition
    std::uint32_t second = none;      // expression: desired value
    std::vector<std::uint32_t> many;  // expressions waited for, or jump targets of a choice
    std::uint32_t target = 0;
    std::vector<std::uint32_t> dead;  // registers that cannot matter from here on
    std::vector<std::uint32_t> used;  // registers whose values show; tainted ones must not

    // A scheduling point: other threads can see when it happens.
    bool is_access() const { return !local && op >= Op::load && op <= Op::sc_fence; }
    bool is_fence() const { return op >= Op::sc_fence; }
};

struct Thread {
    std::uint32_t registers = 0;
    std::vector<Instruction> code;
    std::vector<std::uint32_t> dead_at_end;
    std::vector<std::uint32_t> taintable;    // registers that can be tainted; none if no load taints
    std::vector<std::uint32_t> used_at_end;  // registers whose last values show
    // Filled in by `Program::finish`. A thread stands at one of its access points, or has ended (point =
    // accesses.size()), or runs for ever without access (point = accesses.size() + 1).
    std::vector<std::uint32_t> accesses;  // point -> index in code
    std::vector<std::uint32_t> point_of;  // index in code -> point

    std::uint32_t ended() const { return static_cast<std::uint32_t>(accesses.size()); }
    std::uint32_t diverged() const { return ended() + 1; }
};

// Which values of stale writes to a cell are told apart: singly for `tracked`, together for all others.
struct ValueClasses {
    std::vector<Value> tracked;  // sorted
    bool others = false;

    std::size_t size() const { return tracked.size() + (others ? 1 : 0); }
    // The number of the class of a stale value, or `none` if nobody asks for it.
    std::uint32_t of(Value v) const;
    // The number of the class that stands for v alone; `none` if no write of v can become stale.
    std::uint32_t of_critical(Value v) const;
};

// The classes of a value that a write to its cell makes stale: as a value to read, and as one whose write a
// write or RMW can directly follow. `none` where no instruction asks.
struct StaleValue {
    std::uint32_t plain = none, free = none;
};

struct Cell {
    Value initial = 0;
    bool atomic = true;
    // Stale values that reads can see, and stale values that writes can directly follow (design.md, section
    // 3: plain and free). Both empty where no instruction asks.
    ValueClasses plain;
    ValueClasses free;

    StaleValue stale(Value v) const { return {plain.of(v), free.of(v)}; }
};

struct Program;

// Two threads exchanged, together with some cells and with some values in cells and registers, so that the
// program stays the same (src/fencepost/static/symmetry.py).
struct Exchange {
    struct RegisterAt {
        std::uint32_t thread, pc, reg;
    };
    struct Values {
        Value first, second;
        std::vector<std::uint32_t> cells;
        std::vector<RegisterAt> registers;
    };
    std::uint32_t first, second;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> cells;
    std::vector<Values> values;
};

// Values of some cells and registers that wrap around, and are nowhere told from the same values all moved on
// by `step` (src/fencepost/static/rotations.py). Cells of arrays that have such values as indices move too.
struct Rotation {
    struct RegisterAt {
        std::uint32_t thread, pc, reg;
    };
    struct Array {
        std::uint32_t first, size;
    };
    // Of a translation (src/fencepost/static/translations.py): its values do not wrap around. After each step
    // the pivot, which never decreases, is brought back to `base`. Up to `stale`, which is less, a value v
    // stands for v, v - period, v - 2 * period, … alike, and v is the largest of them that is no more than
    // that: so values below `oldest` are lifted.
    struct Lift {
        Value base, stale, period;

        // Who misses the write that made a value of the pivot stale misses all later ones, and who is aware
        // of the newest is so for each. An access that asks about any stale value asks about the newest, or
        // if it expects that one, about the one before.
        static constexpr Value oldest_asked = 2;

        Value oldest() const { return stale + 1 - period; }
        // The value that stands for v when all are moved back by so much.
        Value moved_back(Value v, Value by) const {
            auto const least = by + oldest();
            if (v < least) v += (least - v + period - 1) / period * period;
            return v - by;
        }
    };
    Value modulus, step;  // which divides the modulus
    std::uint32_t pivot;  // the cell whose value tells how far they have moved
    std::vector<std::uint32_t> cells;
    std::vector<RegisterAt> registers;
    std::vector<Array> arrays;
    std::optional<Lift> lift = std::nullopt;

    // After so many moves all is as before.
    Value order() const { return modulus / step; }
    Value moved(Value v, Value steps) const { return v < modulus ? (v + steps * step) % modulus : v; }
};

// What an exchange, or a number of steps of a rotation, does to threads, cells and values.
class Renaming {
  public:
    Renaming(Program const& program, Exchange const& e);
    Renaming(Program const& program, Rotation const& r, Value steps);

    std::uint32_t thread(std::uint32_t t) const { return threads_[t]; }
    std::uint32_t cell(std::uint32_t x) const { return cells_[x]; }
    // What it makes of v in cell x.
    Value value(std::uint32_t x, Value v) const;

  private:
    explicit Renaming(Program const& program);

    std::vector<std::uint32_t> threads_, cells_;
    struct Pair {
        Value first, second;
    };
    std::vector<std::vector<Pair>> swapped_;                // per cell
    std::vector<std::pair<Rotation const*, Value>> moved_;  // per cell: a rotation, and how many steps of it
};

struct Program {
    Value max_value = 255;
    bool wraps = true;        // values are taken modulo max_value + 1; else a larger one ends the search
    std::vector<Cell> cells;  // the last one is reserved for SC fences
    std::vector<Expression> expressions;
    std::vector<Thread> threads;
    std::vector<Exchange> exchanges;  // of neighbours in groups of equal threads, group by group
    std::vector<Rotation> rotations;
    bool has_non_atomic = false;

    // Checks every number in the program, so that running it cannot go out of bounds; throws
    // std::invalid_argument.
    void finish();

    // All renamings that a state may be replaced by, which later have these numbers: first the exchanges,
    // then of each rotation 1, 2, 4, … steps on, each followed by as many steps back.
    std::vector<Renaming> renamings() const;

    std::uint32_t fence_cell() const { return static_cast<std::uint32_t>(cells.size() - 1); }

    bool has_taints() const;
    // The translation among the rotations, which then is the only one.
    Rotation const* translation() const {
        return !rotations.empty() && rotations[0].lift ? &rotations[0] : nullptr;
    }
    bool in_range(Wide v) const { return v >= 0 && v <= static_cast<Wide>(max_value); }
    Value reduce(Wide v) const {
        if (in_range(v)) return static_cast<Value>(v);
        Wide const modulus = static_cast<Wide>(max_value) + 1;
        Wide const r = v % modulus;
        return static_cast<Value>(r < 0 ? r + modulus : r);
    }
};

}  // namespace fencepost
