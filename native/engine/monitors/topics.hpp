// What a monitor knows, one topic at a time.
//
// Whether an access to x leaves sequential consistency depends on x ∈ VSC[t] and on one class of stale values
// in C[t](x) alone, and these parts of a monitor are changed by nothing but themselves (hbsc.hpp, views.hpp).
// So a monitor is many small ones side by side, each about a topic: a class of stale values of one location,
// or, for data races under RC20, the last write to a non-atomic location or the last read of it by a thread.
// A violation is one of a topic, so topics can be searched one after the other.
//
// Of a topic, a monitor is one bit for each set and view that the full monitor has:
//
//   stale[v]   view v (C[t], A[t], R[t], W[x]) may still miss the write that made the value stale
//   aware[s]   the newest write to the location is in set s (VSC[t], MSC[x], WSC[x])
//
// A topic is dormant while nobody who can ask about it is stale: then `aware` means nothing, since a write
// that makes a value stale sets all bits anew. So what is looked at begins with such a write.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/machine/machine.hpp"
#include "engine/monitors/hbsc.hpp"
#include "engine/monitors/labels.hpp"

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
class Knowledge {
  public:
    static constexpr std::size_t most_threads = 30;

    // With modes the rules are those of RC20 (monitors/rc20.hpp), else those of RA (monitors/ra.hpp).
    Knowledge(Program const& program, bool with_modes);

    std::vector<Topic> const& topics() const { return topics_; }
    // Topics that exchanges of threads turn into each other have the same group.
    std::vector<std::vector<std::uint32_t>> groups() const;
    std::size_t words() const { return words_; }

    // Bit t of the first word is stale[C[t]], bit `aware_shift + t` is aware[VSC[t]]; the last bit is always
    // set, but for those who want to mark something.
    std::uint32_t aware_shift() const { return threads_; }
    std::size_t mark_word() const { return words_ - 1; }
    static constexpr Word mark = Word{1} << 63;

    // Some bits of a word become what another bit is: those in `set` if it is 1, those in `clear` if it is 0.
    struct Change {
        std::uint32_t from, word;
        Word set, clear;
    };
    // What a label does to a topic: it changes bits, then threads change places, which come last in a label,
    // and so the topic may become another one.
    struct Effect {
        std::vector<Change> changes;
        std::vector<std::uint32_t> exchanges;
        std::uint32_t topic;
    };
    Effect effect(std::vector<Told> const& label, std::uint32_t topic) const;

    // What an exchange of threads does: to the bits, and to a topic.
    BitSwaps const& exchanged_bits(std::uint32_t exchange) const { return exchanges_[exchange].bits; }
    std::uint32_t exchanged_topic(std::uint32_t exchange, std::uint32_t topic) const {
        return exchanges_[exchange].topics[topic];
    }

    // Whether it makes somebody stale who was not; only an access does.
    bool wakes(Told const& told, std::uint32_t topic) const;

    // Whether an access of t violates what the topic is about, if t is stale and aware.
    template <class Monitor>
    bool asks(Topic const& topic, Machine<Monitor> const& machine, Word const* state, std::uint32_t t,
              Access const& a) const {
        auto const& i = *a.instruction;
        if (a.cell != topic.cell) return false;
        if (topic.kind != Topic::Kind::stale_value)
            return i.non_atomic && (topic.kind == Topic::Kind::last_write || i.op == Op::store);
        auto const& cell = program_.cells[topic.cell];
        auto const is_plain = [&](Value v) { return cell.plain.of_critical(v) == topic.plain; };
        auto const is_free = [&](Value v) { return cell.free.of_critical(v) == topic.free; };
        switch (i.op) {
            case Op::load:
                return topic.plain != none;
            case Op::wait:
                return topic.plain != none && std::ranges::any_of(machine.awaited(state, t, i), is_plain);
            case Op::compare_exchange:
                return (topic.free != none && is_free(a.first)) ||
                       (topic.plain != none && !is_plain(a.first));
            case Op::blocking_compare_exchange:
                return topic.free != none && is_free(a.first);
            default:
                return topic.free != none;
        }
    }
    // Whether an instruction can do so, whatever the values.
    bool may_ask(Topic const& topic, Instruction const& i) const;

  private:
    struct Exchanged {
        BitSwaps bits;
        std::vector<std::uint32_t> topics;  // topic -> topic
    };

    void add_topics(bool with_modes);
    void number_bits(bool with_modes);
    void add_exchange(Exchange const& e);

    Program const& program_;
    CellUse use_;
    std::uint32_t threads_;
    std::vector<Topic> topics_;
    std::vector<std::uint32_t> msc_, wsc_, message_;  // cell -> its bit, or none
    std::vector<std::uint32_t> acquire_, release_;    // thread -> its bit
    std::vector<std::uint32_t> aware_bits_, stale_bits_;
    std::uint32_t zero_ = 0, one_ = 0;  // bits that are always the same
    std::size_t words_ = 0;
    std::vector<Exchanged> exchanges_;
};

}  // namespace fencepost
