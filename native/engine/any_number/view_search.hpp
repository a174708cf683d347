// All views of a program, with the bits of a topic in their states, of an attack, or none.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/any_number/any_number.hpp"
#include "engine/any_number/topic_bits.hpp"
#include "engine/search/explorer.hpp"
#include "engine/state/store.hpp"

namespace fencepost {

using GlobalNumber = std::uint32_t;
using LocalNumber = std::uint32_t;

// Local states in ascending order of their numbers.
using Locals = std::vector<LocalNumber>;

// Records of some words each, under consecutive numbers.
class Interner {
  public:
    Interner(std::size_t words, MemoryBudget& memory)
        : words_(words), records_(memory, words), table_(memory) {}
    std::uint32_t number(Word const* record);
    // `no_state` if it has none.
    std::uint32_t find(Word const* record) { return find(record, hash_words(record, words_)); }
    Word const* operator[](std::uint32_t n) const { return records_[n]; }
    std::size_t size() const { return records_.size(); }

  private:
    std::uint32_t find(Word const* record, std::uint64_t hash);

    std::size_t words_;
    Arena records_;
    HashTable table_;
};

// `Bits` says what a state has besides program state and memory (topic_bits.hpp, attack_bits.hpp).
template <class Bits>
class ViewSearch {
  public:
    // With bits of a topic the search is for what violates it. With none it is for failing assertions and,
    // where the model does not order accesses by their modes, for conflicting accesses that come next.
    ViewSearch(Program const& program, Bits bits, AnyNumberQuestion const& question, std::size_t most_bytes);

    // Begins with k threads at their starts. The program may be at other places, too: with views of states
    // that were made from parts of states of the machine, with the bits.
    void start();
    GlobalNumber global_of(Word const* joint);
    LocalNumber local_of(Word const* joint, std::uint32_t kind);
    void add_view(GlobalNumber g, Locals const& locals);

    // Looks at one more view; false if there is none left, or nothing more to find.
    bool advance();

    std::size_t views() const { return views_.size(); }
    std::size_t waiting() const { return views_.size() - next_; }
    std::uint64_t steps() const { return steps_made_; }
    std::size_t globals() const { return globals_.size(); }
    std::size_t locals() const { return locals_.size(); }
    std::size_t bytes() const { return memory_.used(); }

    bool violates() const { return violates_; }
    bool conflicts() const { return conflicts_; }
    bool fails() const { return fails_; }
    bool excluded() const { return excluded_; }

    // What was found: each view, by the numbers of its states, and these states.
    GlobalNumber view(std::size_t n, Locals& locals) const;
    Word const* local(LocalNumber l) const { return locals_[l]; }
    std::uint32_t kind_of(LocalNumber l) const { return static_cast<std::uint32_t>(locals_[l][words_]); }
    // The state in which no thread of a template is there.
    Word const* state_of(GlobalNumber g) {
        compose(g, none);
        return joint_.data();
    }

  private:
    // A step of one thread: the global state after it, its own local state after it (`none` if it has no
    // such, being there once), and what the topic is told, on which depends what happens to the others.
    struct Step {
        GlobalNumber global;
        LocalNumber own;
        LabelNumber label;
    };
    struct NonAtomic {
        std::uint32_t cell;
        bool writes;
    };
    struct AtGlobal {
        Locals locals;                           // that occur in its views, as they came
        std::vector<NonAtomic> accesses;         // that come next, of the threads that are there once
        std::uint32_t exclusive = 0;             // how many of them stand at exclusive places
        std::optional<std::vector<Step>> steps;  // of these threads
    };

    void make_masks();
    void add_start_views(GlobalNumber global, Locals const& starts, Locals& view);

    void compose(GlobalNumber g, LocalNumber l);

    // The record of a view, in `record_`.
    Word const* record(GlobalNumber g, Locals const& locals);
    void meet(GlobalNumber g, LocalNumber l);
    bool are_views(GlobalNumber g, Locals const& more, StateNumber last);

    void expand(GlobalNumber g, Locals const& more);
    void reach(Step const& step, Locals const& others);
    std::vector<Step> const& steps_of(GlobalNumber g, LocalNumber l);
    std::vector<Step> const& fixed_steps(GlobalNumber g);
    void make_steps(std::uint32_t thread, std::optional<std::uint32_t> kind, std::vector<Step>& steps);
    LocalNumber after(LabelNumber label, LocalNumber other);

    void check(std::uint32_t thread);
    void find_conflicts(GlobalNumber g, Locals const& more);
    void find_excluded(GlobalNumber g, Locals const& more);
    bool is_exclusive(Word const* state, std::uint32_t thread) const;
    std::optional<NonAtomic> non_atomic(Word const* state, std::uint32_t thread) const;

    Program const& program_;
    Bits bits_;
    Machine<typename Bits::Monitor> const& machine_;
    AnyNumberQuestion const& question_;
    std::size_t key_words_, words_;  // of program state and memory; with the bits

    std::vector<std::uint32_t> fixed_;      // threads that are there once
    std::vector<std::vector<Word>> masks_;  // per template: the bits of its actor
    std::vector<Word> shared_;              // the bits of the global state
    std::vector<Word> absent_;              // what threads of templates are that are not there

    MemoryBudget memory_;
    Interner globals_, locals_, views_;
    std::size_t next_ = 0;  // view to be looked at
    std::vector<AtGlobal> at_;
    std::unordered_set<std::uint64_t> met_;                       // global and local states of one view
    std::vector<std::optional<NonAtomic>> accesses_;              // per local state: that comes next
    std::vector<bool> exclusive_;                                 // per local state: at an exclusive place
    std::unordered_map<std::uint64_t, std::vector<Step>> steps_;  // by global and local state
    std::unordered_map<std::uint64_t, LocalNumber> after_;        // by label and local state
    std::vector<Word> joint_, state_, record_;                    // room
    StateList successors_;
    std::uint64_t steps_made_ = 0;
    bool violates_ = false, conflicts_ = false, fails_ = false, excluded_ = false;
};

}  // namespace fencepost
