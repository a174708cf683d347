// What the steps of a program mean to a monitor, without the monitor.
//
// A label lists what a monitor is told about one step: an access, the weak fences that the thread passes
// before its next access, and the exchanges of equal threads (search/symmetry.hpp) that bring the state to
// its stored form. There are few different labels, so they are numbered.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/machine/event.hpp"
#include "engine/monitors/rules.hpp"
#include "engine/state/layout.hpp"
#include "engine/state/update.hpp"

namespace fencepost {

using LabelNumber = std::uint32_t;

class Labels {
  public:
    // Number 0: a step that monitors are told nothing about.
    static constexpr LabelNumber nothing = 0;

    LabelNumber append(LabelNumber label, MonitorEvent event);
    std::vector<MonitorEvent> events(LabelNumber label) const;
    std::optional<MonitorEvent> first(LabelNumber label) const;
    std::size_t size() const { return entries_.size(); }

  private:
    struct Entry {
        LabelNumber before;
        MonitorEvent last;
    };
    std::vector<Entry> entries_{1};  // the first stands for nothing
    struct Key {
        LabelNumber before;
        std::uint64_t event;  // packed
        bool operator==(Key const&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(Key const& key) const {
            return (key.event + key.before * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u >> 17;
        }
    };
    std::unordered_map<Key, LabelNumber, KeyHash> numbers_;
};

// A monitor that knows nothing and writes down what it is told: its part of a state is the label of the step
// that led there. It is told what the rules of a model see. It hears of each kind of step only once
// (known_steps.hpp), so the model can be chosen when the program runs.
class LabelMonitor {
  public:
    static constexpr bool watches = false;
    static constexpr bool has_views = true;

    LabelMonitor(Program const&, Layout& layout, Model model)
        : has_modes(parts_of(model).modes), model_(model), label_(layout.allocate(32)) {}

    bool const has_modes;

    LabelNumber label(Word const* state) const { return static_cast<LabelNumber>(label_.get(state)); }
    void forget(Word* state) const { label_.set(state, Labels::nothing); }
    Labels const& labels() const { return labels_; }

    void start(Word*) const {}
    void apply(auto& state, MonitorEvent const& event) const {
        auto const seen = with_rules(model_, [&]<class Rules>(Rules) { return Rules::seen(event); });
        if (seen) add(state, *seen);
    }
    // The state was brought to another form by the exchange of this number.
    void exchanged(Word* state, std::uint32_t number) const {
        add(state, {MonitorEvent::Kind::exchange, number});
    }

    void add_renaming(Renaming const&, BitPermutation&) const {}
    std::vector<Field> fields_of_thread(std::uint32_t) const { return {}; }

  private:
    void add(Word* state, MonitorEvent const& event) const {
        label_.set(state, labels_.append(label(state), event));
    }
    // An update sets the label to what it is after all that was told so far.
    void add(Update& update, MonitorEvent const& event) const {
        auto before = Labels::nothing;
        for (auto const& o : update.operations()) before = static_cast<LabelNumber>(o.set >> label_.shift);
        auto const mask = label_.mask << label_.shift;
        auto const after = Word{labels_.append(before, event)} << label_.shift;
        update.clear_and_set(label_.word, mask, after);
    }

    Model model_;
    Field label_;
    mutable Labels labels_;
};

}  // namespace fencepost
