// A monitor, one topic at a time.
//
// Whether an access to x leaves sequential consistency depends on x ∈ VSC[t] and on one class of stale values
// in C[t](x) alone, and by the rules (rules.hpp) these parts of a monitor change independently of all others.
// So a monitor is many small ones side by side, each about a topic: a class of stale values of one location,
// or, for data races under RC20, the last write to a non-atomic location or the last read of it by a thread.
// Every violation belongs to one topic, so topics can be searched one after the other.
//
// Of a topic, a monitor is one bit for each set and view that the full monitor has:
//
//   stale[v]   view v (C[t], A[t], R[t], W[x], or one of the order S) may still miss the write that made the
//              value stale
//   aware[s]   the newest write to the location is in set s (VSC[t], MSC[x], WSC[x])
//
// A topic is dormant while no thread that can ask about it is stale. Then `aware` means nothing, since the
// write that next makes the value stale sets all bits anew. So the search of a topic begins with such writes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/machine/machine.hpp"
#include "engine/monitors/rules.hpp"

namespace fencepost {

struct Topic {
    enum class Kind : std::uint8_t { stale_value, last_write, last_read };
    Kind kind = Kind::stale_value;
    std::uint32_t cell = 0;
    std::uint32_t plain = none, free = none;  // classes of stale values, which may be one and the same
    std::uint32_t reader = none;              // of the last read

    bool operator==(Topic const&) const = default;
};

// The bits of a topic, and how they change. All topics have the same bits.
class TopicRules {
  public:
    static constexpr std::size_t most_threads = 30;

    // For a model that has rules.
    TopicRules(Program const& program, Model model);

    std::vector<Topic> const& topics() const { return topics_; }
    // Topics that exchanges of threads turn into each other have the same group.
    std::vector<std::vector<std::uint32_t>> groups() const;
    std::size_t words() const { return words_; }

    // Bit t of the first word is stale[C[t]], bit `aware_shift + t` is aware[VSC[t]]; the last bit is set in
    // every monitor and free for marking elements.
    std::uint32_t aware_shift() const { return parts_.threads(); }
    std::size_t mark_word() const { return words_ - 1; }
    static constexpr Word mark = Word{1} << 63;
    // The bits that belong to t alone, in the same order for all threads with the same code.
    std::vector<std::uint32_t> bits_of_thread(std::uint32_t t) const;
    // Whether a change that depends on this bit always does the same.
    bool is_constant(std::uint32_t bit) const { return bit == zero_ || bit == one_; }

    // Some bits of a word become what another bit is: those in `set` if it is 1, those in `clear` if it is 0.
    struct Change {
        std::uint32_t from, word;
        Word set, clear;
    };
    // What a label does to a topic: it changes bits, and then exchanges threads, so that the topic may become
    // another one.
    struct Effect {
        std::vector<Change> changes;
        std::vector<std::uint32_t> exchanges;
        std::uint32_t topic;
    };
    Effect effect(std::vector<MonitorEvent> const& label, std::uint32_t topic) const;

    // What a renaming does: to the bits, and to a topic.
    BitPermutation const& exchanged_bits(std::uint32_t exchange) const { return exchanges_[exchange].bits; }
    std::uint32_t exchanged_topic(std::uint32_t exchange, std::uint32_t topic) const {
        return exchanges_[exchange].topics[topic];
    }

    // Whether the event makes a view stale that was not; only an access does.
    bool wakes(MonitorEvent const& event, std::uint32_t topic) const;

    // Whether an access of t violates what the topic is about, if t is stale and aware.
    template <class Monitor>
    bool asks(Topic const& topic, Machine<Monitor> const& machine, Word const* state, std::uint32_t t,
              Access const& a) const {
        auto const& i = *a.instruction;
        if (a.cell != topic.cell) return false;
        std::vector<Operand> awaited;
        for (auto v : machine.awaited(state, t, i)) awaited.emplace_back(v);
        return asks(topic, i, a.first, awaited);
    }
    // Whether an access of t that asks about the topic is bounded by the order S: P[t] rules out what the
    // topic is about.
    bool bounds(Topic const& topic, std::uint32_t t, Instruction const& i, Word const* bits) const;
    // Whether an instruction can do so, whatever the values.
    bool may_ask(Topic const& topic, Instruction const& i) const;

    // What a write to x leaves for those who read it.
    std::vector<std::uint32_t> bits_for_readers(std::uint32_t x) const;
    // Of a translation: a cell that one thread writes and others read. A topic is taught there if neither
    // that thread nor the cell misses what it is about; so who reads the cell does not miss it either, until
    // the topic wakes anew.
    bool has_teacher() const { return teacher_ != none; }
    // The bit of the cell, if the topic is not about the cell itself.
    std::uint32_t teacher_bit(std::uint32_t topic) const;
    bool is_taught(std::uint32_t topic, Word const* bits) const {
        if (teacher_ == none || topics_[topic].cell == teacher_) return false;
        Word missing = 0;
        for (auto bit : teacher_bits_) missing |= bits[bit / 64] >> bit % 64 & 1;
        return missing == 0;
    }

  private:
    class Target;
    // Of a topic about a stale value of the pivot of a translation: by how much the pivot has grown since.
    std::optional<Value> age(Topic const& topic) const;
    // Older ones become one that is too old.
    void find_ages();
    void find_writers();
    void find_teacher();
    // Sets bits that do not matter as they are.
    void raise(Target& target) const;

    using Operand = std::optional<Value>;  // nothing: any value
    struct Exchanged {
        BitPermutation bits;
        std::vector<std::uint32_t> topics;  // topic -> topic
    };

    void add_topics(bool has_modes);
    void number_bits();
    void add_renaming(Renaming const& e);
    void apply(Target& target, MonitorEvent const& event) const;
    bool asks(Topic const& topic, Instruction const& i, Operand expected,
              std::vector<Operand> const& awaited) const;

    Program const& program_;
    Model model_;
    MonitorParts parts_;
    std::vector<Topic> topics_;
    std::vector<std::uint32_t> aware_bits_;  // per set
    std::vector<std::uint32_t> stale_bits_;  // per view
    std::uint32_t zero_ = 0, one_ = 0;       // bits that are always the same
    std::size_t words_ = 0;
    std::vector<Exchanged> exchanges_;
    std::vector<std::uint32_t> aged_;              // topic -> topic
    std::uint32_t teacher_ = none;                 // cell
    std::array<std::uint32_t, 2> teacher_bits_{};  // its, and that of its writer
    std::vector<std::uint32_t> sole_writer_;       // per cell: the only thread that writes it, or `none`
};

}  // namespace fencepost
