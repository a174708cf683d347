// What the steps of a program mean to a monitor, without the monitor.
//
// A label is what a monitor is told about one step: an access, the weak fences that the thread passes before
// its next access, and the exchanges of equal threads (symmetry.hpp) that bring the state to its stored form.
// Few labels are different, so they are numbered.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/program/bytecode.hpp"
#include "engine/state/layout.hpp"
#include "engine/state/update.hpp"

namespace fencepost {

using LabelNumber = std::uint32_t;

// One thing that a monitor is told.
struct Told {
    enum class Kind : std::uint8_t {
        read,
        write,
        read_modify_write,
        sc_fence,
        fence,
        non_atomic_read,
        non_atomic_write,
        exchange,
    };
    // The effect of weak fences one after the other: acquire sets C = A, release R = C. Any sequence of them
    // has one of these effects.
    enum class Fences : std::uint8_t { acquire, release, acquire_release, release_acquire };

    Kind kind;
    std::uint32_t thread = 0;  // or the number of the exchange
    std::uint32_t cell = 0;
    std::uint32_t plain = none;  // classes of the value that a write makes stale
    std::uint32_t free = none;
    bool acquire = true;
    bool release = true;
    Fences fences = Fences::acquire;

    // All of it in a word.
    std::uint64_t packed() const {
        std::uint64_t word = static_cast<std::uint64_t>(kind);
        word = word << 8 | thread;
        word = word << 16 | cell;
        word = word << 12 | (plain + 1);  // 0: none
        word = word << 12 | (free + 1);
        return word << 4 | static_cast<std::uint64_t>(acquire) << 3 |
               static_cast<std::uint64_t>(release) << 2 | static_cast<std::uint64_t>(fences);
    }
};

Told::Fences then(Told::Fences first, Told::Fences second);

class Labels {
  public:
    // Number 0: a step that monitors are told nothing about.
    static constexpr LabelNumber nothing = 0;

    LabelNumber append(LabelNumber label, Told told);
    std::vector<Told> told(LabelNumber label) const;
    std::optional<Told> first(LabelNumber label) const;
    std::size_t size() const { return entries_.size(); }

  private:
    struct Entry {
        LabelNumber before;
        Told last;
    };
    std::vector<Entry> entries_{1};  // the first stands for nothing
    struct Key {
        LabelNumber before;
        std::uint64_t told;
        bool operator==(Key const&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(Key const& key) const {
            return (key.told + key.before * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u >> 17;
        }
    };
    std::unordered_map<Key, LabelNumber, KeyHash> numbers_;
};

// A monitor that knows nothing and writes down what it is told: its part of a state is the label of the step
// that led there. With modes it is told what RC20 wants to know, else what RA does.
template <bool with_modes>
class LabelMonitor {
  public:
    static constexpr bool watches = false;
    static constexpr bool has_modes = with_modes;

    LabelMonitor(Program const& program, Layout& layout)
        : cells_(program.cells), label_(layout.allocate(32)) {}

    LabelNumber label(Word const* state) const { return static_cast<LabelNumber>(label_.get(state)); }
    void forget(Word* state) const { label_.set(state, Labels::nothing); }
    Labels const& labels() const { return labels_; }

    void start(Word*) const {}
    void read(auto& state, std::uint32_t t, std::uint32_t x, Instruction const& i) const {
        add(state, access(Told::Kind::read, t, x, i));
    }
    void write(auto& state, std::uint32_t t, std::uint32_t x, Value old, Instruction const& i) const {
        overwrite(state, Told::Kind::write, t, x, old, i);
    }
    void read_modify_write(auto& state, std::uint32_t t, std::uint32_t x, Value old,
                           Instruction const& i) const {
        overwrite(state, Told::Kind::read_modify_write, t, x, old, i);
    }
    void sc_fence(auto& state, std::uint32_t t, std::uint32_t f) const {
        add(state, {Told::Kind::sc_fence, t, f});
    }
    void fence(auto& state, std::uint32_t t, Instruction const& i) const {
        if constexpr (with_modes) {
            Told told{Told::Kind::fence, t};
            told.fences = i.op == Op::acquire_fence   ? Told::Fences::acquire
                          : i.op == Op::release_fence ? Told::Fences::release
                                                      : Told::Fences::acquire_release;
            add(state, told);
        }
    }
    void non_atomic_read(auto& state, std::uint32_t t, std::uint32_t d) const {
        if constexpr (with_modes) add(state, {Told::Kind::non_atomic_read, t, d});
    }
    void non_atomic_write(auto& state, std::uint32_t t, std::uint32_t d) const {
        if constexpr (with_modes) add(state, {Told::Kind::non_atomic_write, t, d});
    }
    // The state was brought to another form by the exchange of this number.
    void exchanged(auto& state, std::uint32_t number) const { add(state, {Told::Kind::exchange, number}); }

    void add_exchange(Exchange const&, BitSwaps&) const {}
    std::vector<Field> fields_of_thread(std::uint32_t) const { return {}; }

  private:
    static Told access(Told::Kind kind, std::uint32_t t, std::uint32_t x, Instruction const& i) {
        Told told{kind, t, x};
        if constexpr (with_modes) {
            told.acquire = i.acquire;
            told.release = i.release;
        }
        return told;
    }
    void overwrite(auto& state, Told::Kind kind, std::uint32_t t, std::uint32_t x, Value old,
                   Instruction const& i) const {
        auto told = access(kind, t, x, i);
        told.plain = cells_[x].plain.of(old);
        if (kind == Told::Kind::write) told.free = cells_[x].free.of(old);
        add(state, told);
    }
    void add(Word* state, Told const& told) const { label_.set(state, labels_.append(label(state), told)); }
    // An update sets the label to what it is after all that was told so far.
    void add(Update& update, Told const& told) const {
        auto before = Labels::nothing;
        for (auto const& o : update.operations()) before = static_cast<LabelNumber>(o.set >> label_.shift);
        auto const mask = label_.mask << label_.shift;
        auto const after = Word{labels_.append(before, told)} << label_.shift;
        update.clear_and_set(label_.word, mask, after);
    }

    std::vector<Cell> const& cells_;
    Field label_;
    mutable Labels labels_;
};

}  // namespace fencepost
