// The second half of an attack on robustness (Bouajjani, Derevenetc, Meyer 2013): after the attacker's read
// of x has overtaken its write of y, the other threads go on under sequential consistency, but only with
// steps that happen after the read.
//
// A step happens after it if its thread has done such a step before, or if it conflicts with one: it writes a
// cell that has been read or written, or reads a cell that has been written. At the start x has been read.
// More such threads and cells allow more, so the monitor is monotone and subsumption applies.
#pragma once

#include <algorithm>
#include <span>

#include "engine/search/explorer.hpp"
#include "engine/state/layout.hpp"

namespace fencepost {

class AfterRead {
  public:
    static constexpr bool watches = false;
    static constexpr bool has_modes = false;
    static constexpr bool has_views = false;

    AfterRead(Program const& program, Layout& layout) {
        for (std::size_t t = 0; t < program.threads.size(); ++t) joined_.push_back(layout.allocate(1));
        for (std::size_t x = 0; x < program.cells.size(); ++x) {
            read_.push_back(layout.allocate(1));
            written_.push_back(layout.allocate(1));
        }
    }

    // Attacks by different threads, or on different cells, are kept apart.
    static std::uint64_t largest_key(Program const& program) {
        return program.threads.size() * program.cells.size() - 1;
    }
    static std::uint64_t key(Program const& program, std::uint32_t attacker, std::uint32_t y) {
        return attacker * program.cells.size() + y;
    }
    static std::uint32_t cell_of(Program const& program, std::uint64_t key) {
        return static_cast<std::uint32_t>(key % program.cells.size());
    }

    void start(Word*) const {}
    void apply(Word* state, MonitorEvent const& e) const {
        using enum MonitorEvent::Kind;
        if (e.kind == sc_fence || e.kind == fence) return;
        joined_[e.thread].set(state, 1);
        read_[e.cell].set(state, 1);
        if (e.kind != read && e.kind != non_atomic_read) written_[e.cell].set(state, 1);
    }

    Field const& joined(std::uint32_t t) const { return joined_[t]; }
    void attacker_read(Word* state, std::uint32_t x) const { read_[x].set(state, 1); }
    bool happens_after(Word const* state, std::uint32_t t, std::uint32_t x, bool writes) const {
        return joined_[t].get(state) != 0 || (writes ? touched(state, x) : written_[x].get(state) != 0);
    }
    // Whether x has been read or written.
    bool touched(Word const* state, std::uint32_t x) const { return read_[x].get(state) != 0; }

  private:
    std::vector<Field> joined_;          // per thread
    std::vector<Field> read_, written_;  // per cell; what is written counts as read
};

// Where the first half of an attack ends: `attacker` has read x, which overtook its write of y.
struct Overtaken {
    std::uint32_t attacker, y, x;
};

// The state with which the second half starts, from one of the program without monitor.
inline void enter_second_half(Program const& program, Machine<AfterRead> const& machine,
                              std::span<Word const> state, Overtaken const& by, Word* entered) {
    std::fill(entered, entered + machine.words(), 0);
    std::copy(state.begin(), state.end(), entered);
    machine.retire(entered, by.attacker);
    machine.monitor_key().set(entered, AfterRead::key(program, by.attacker, by.y));
    machine.monitor().attacker_read(entered, by.x);
}

// All attacks of a program, each from the states that its first half leads to.
class Attacks {
  public:
    // After the run to state `from`, and what the attacker then did alone.
    struct Start : Overtaken {
        StateNumber from;
    };
    Attacks(Program const& program, std::size_t most_bytes)
        : program_(program),
          machine_(program),
          store_(machine_.words(), machine_.key_words(), most_bytes),
          current_(machine_.words()),
          successors_(machine_.words()) {}

    // `state` is the state `start.from` of the program without monitor.
    void add(std::span<Word const> state, Start const& start) {
        enter(state, start, current_.data());
        if (insert(current_.data(), {static_cast<StateNumber>(starts_.size()), is_start, 0})) {
            starts_.push_back(start);
        }
    }
    bool has_work() const { return !open_.empty(); }
    // Takes one state further; true if an attack succeeds.
    bool work();

    // Where the successful attack started, and what the others did from there on.
    Start const& start() const { return starts_[path_.front().parent]; }
    std::vector<Event> others(std::span<Word const> state) const;

    std::uint64_t states() const { return store_.size(); }
    std::size_t bytes() const { return store_.memory().used(); }

  private:
    static constexpr std::uint32_t is_start = 0xff;  // as thread of an origin: its parent is a start

    void enter(std::span<Word const> state, Start const& start, Word* entered) const {
        enter_second_half(program_, machine_, state, start, entered);
    }
    bool insert(Word const* state, Origin origin) {
        auto const number = static_cast<StateNumber>(store_.size());
        if (!store_.insert(state, store_.hash(state), origin)) return false;
        open_.push_back(number);
        return true;
    }

    Program const& program_;
    Machine<AfterRead> machine_;
    AntichainStore store_;
    std::vector<StateNumber> open_;
    std::vector<Start> starts_;
    std::vector<Word> current_;
    StateList successors_;
    std::vector<Origin> path_;  // of the attack that succeeded
};

}  // namespace fencepost
