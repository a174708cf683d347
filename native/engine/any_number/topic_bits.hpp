// The bits of one topic in the states of views, or none: then views are of the program alone.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "engine/any_number/any_number.hpp"
#include "engine/monitors/labels.hpp"
#include "engine/monitors/topics.hpp"

namespace fencepost {

inline bool bit_at(Word const* words, std::uint32_t bit) {
    return (words[bit / 64] >> bit % 64 & 1) != 0;
}

// Bits that a step sets and clears in the local state of every other thread of a template.
struct OnOthers {
    std::vector<Word> set, clear;
};

class TopicBits {
  public:
    using Monitor = LabelMonitor;
    static constexpr bool changes_others = true;  // a step changes the bits of other threads

    TopicBits(Machine<LabelMonitor> const& machine, TopicRules const* rules,
              std::optional<std::uint32_t> topic)
        : machine_(machine), rules_(topic ? rules : nullptr), topic_(topic.value_or(none)) {}

    Machine<LabelMonitor> const& machine() const { return machine_; }
    bool exist() const { return rules_ != nullptr; }

    // Of a state with the bits, which come after program state and memory.
    std::size_t words() const { return machine_.key_words() + (exist() ? rules_->words() : 0); }
    // Sets those that belong to the thread.
    void mark_own(std::uint32_t thread, Word* words) const;
    // The same state as the machine has it; the bits are not in there.
    void to_machine(Word const* joint, Word* state) const {
        std::fill_n(state, machine_.words(), 0);
        copy_words(state, joint, machine_.key_words());
    }

    bool allow(Word const* /*state*/, std::uint32_t /*thread*/, Access const&) const { return true; }
    // Makes `joint`, the state before a step, the one after it, which the machine has as `successor`. What
    // happens to other threads depends on the label; it is `none` if nothing does.
    LabelNumber step(Word const* successor, Word* joint);
    OnOthers const& on_others(LabelNumber label, ThreadTemplate const& of_others);

    // Whether the next access of the thread violates what the topic is about.
    bool violates(Word const* joint, Word const* state, std::uint32_t thread) const;
    bool violates(Word const* /*joint*/) const { return false; }

  private:
    bool tell(LabelNumber label, Word* bits);
    bool wakes(LabelNumber label) const;
    TopicRules::Effect const& effect(LabelNumber label);

    Machine<LabelMonitor> const& machine_;
    TopicRules const* rules_;
    std::uint32_t topic_;
    std::map<std::pair<LabelNumber, std::uint32_t>, OnOthers> on_others_;
    std::vector<std::optional<TopicRules::Effect>> effects_;
};

}  // namespace fencepost
