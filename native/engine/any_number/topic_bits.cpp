#include "engine/any_number/topic_bits.hpp"

#include <algorithm>
#include <stdexcept>

namespace fencepost {

void TopicBits::mark_own(std::uint32_t thread, Word* words) const {
    if (!exist()) return;
    for (auto const bit : rules_->bits_of_thread(thread))
        words[machine_.key_words() + bit / 64] |= Word{1} << bit % 64;
}

LabelNumber TopicBits::step(Word const* successor, Word* joint) {
    copy_words(joint, successor, machine_.key_words());
    auto const label = machine_.monitor().label(successor);
    return exist() && tell(label, joint + machine_.key_words()) ? label : none;
}

// What the label does to the bits of the topic; false if it is dormant and stays so. Once it has woken, its
// mark is set.
bool TopicBits::tell(LabelNumber label, Word* bits) {
    auto& mark_word = bits[rules_->mark_word()];
    if ((mark_word & TopicRules::mark) == 0 && !wakes(label)) return false;
    mark_word |= TopicRules::mark;
    for (auto const& change : effect(label).changes)
        bits[change.word] =
            bit_at(bits, change.from) ? bits[change.word] | change.set : bits[change.word] & ~change.clear;
    return true;
}

bool TopicBits::wakes(LabelNumber label) const {
    auto const& events = machine_.monitor().labels().events(label);
    return std::ranges::any_of(events, [this](auto const& event) { return rules_->wakes(event, topic_); });
}

// As the bystander of the template shows it. What a step does to others does not depend on anything.
OnOthers const& TopicBits::on_others(LabelNumber label, ThreadTemplate const& of_others) {
    auto const [at, is_new] = on_others_.try_emplace({label, of_others.actor});
    if (!is_new) return at->second;
    auto& on = at->second;
    auto const words = machine_.key_words() + rules_->words();
    on.set.assign(words, 0);
    on.clear.assign(words, 0);
    auto const from = rules_->bits_of_thread(of_others.bystander),
               to = rules_->bits_of_thread(of_others.actor);
    for (auto const& change : effect(label).changes) {
        for (std::size_t n = 0; n < from.size(); ++n) {
            Word const bit = Word{1} << from[n] % 64;
            if (change.word != from[n] / 64 || ((change.set | change.clear) & bit) == 0) continue;
            if (!rules_->is_constant(change.from)) throw std::logic_error("a step treats others differently");
            bool const sets = (change.set & bit) != 0;
            Word const own = Word{1} << to[n] % 64;
            auto const word = machine_.key_words() + to[n] / 64;
            (sets ? on.set : on.clear)[word] |= own;
            (sets ? on.clear : on.set)[word] &= ~own;
        }
    }
    return on;
}

TopicRules::Effect const& TopicBits::effect(LabelNumber label) {
    if (label >= effects_.size()) effects_.resize(label + 1);
    if (!effects_[label]) effects_[label] = rules_->effect(machine_.monitor().labels().events(label), topic_);
    return *effects_[label];
}

bool TopicBits::violates(Word const* joint, Word const* state, std::uint32_t thread) const {
    if (!exist()) return false;
    auto const* const bits = joint + machine_.key_words();
    if (!bit_at(bits, thread) || !bit_at(bits, rules_->aware_shift() + thread)) return false;
    auto const access = machine_.next_access(state, thread);
    auto const& topic = rules_->topics()[topic_];
    return access && rules_->asks(topic, machine_, state, thread, *access) &&
           !rules_->bounds(topic, thread, *access->instruction, bits);
}

}  // namespace fencepost
