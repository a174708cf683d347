#include "engine/any_number/attacks.hpp"

#include <algorithm>
#include <utility>

#include "engine/any_number/attack_bits.hpp"
#include "engine/any_number/view_search.hpp"
#include "engine/tso/attack_starts.hpp"

namespace fencepost {

namespace {

class AttackSearch {
  public:
    AttackSearch(Program const& program, AnyNumberQuestion const& question, Limits const& limits,
                 Watcher const& watcher)
        : program_(program),
          question_(question),
          limits_(limits),
          overseer_(limits_, watcher),
          labelled_(program, Model{}),  // sequential consistency
          plain_(program),
          attacked_(program),
          starts_(program, plain_) {
        for (std::uint32_t t = 0; t < program.threads.size(); ++t) {
            if (question.reader ? t == *question.reader : is_fixed(t)) attackers_.push_back(t);
        }
    }

    AnyNumberResult run() {
        run_search(result_.search, [&] { return search(); });
        result_.search.seconds = overseer_.seconds();
        return std::move(result_);
    }

  private:
    using FirstHalf = ViewSearch<TopicBits>;
    using SecondHalf = ViewSearch<AttackBits>;

    bool is_fixed(std::uint32_t thread) const {
        return std::ranges::none_of(question_.templates, [thread](auto const& many) {
            return thread == many.actor || thread == many.bystander;
        });
    }

    Outcome search() {
        FirstHalf first(program_, TopicBits(labelled_, nullptr, std::nullopt), question_, limits_.bytes);
        first.start();
        if (auto const outcome = complete(first)) return *outcome;
        SecondHalf second(program_, AttackBits(program_, attacked_), question_,
                          limits_.bytes - bytes_before_);
        if (auto const outcome = begin(first, second)) return *outcome;
        auto const outcome = complete(second);
        result_.violation = second.violates();
        return !outcome && result_.violation ? Outcome::violation : outcome.value_or(Outcome::complete);
    }

    // Why the search has to end, if it has to.
    template <class Half>
    std::optional<Outcome> complete(Half& half) {
        std::optional<Outcome> outcome;
        while (!outcome && half.advance()) outcome = look(half);
        views_before_ += half.views();
        steps_before_ += half.steps();
        bytes_before_ += half.bytes();
        return outcome;
    }

    template <class Half>
    std::optional<Outcome> look(Half const& half) {
        result_.search.states = views_before_ + half.views();
        result_.search.transitions = steps_before_ + half.steps();
        result_.search.peak_bytes = bytes_before_ + half.bytes();
        result_.globals = std::max<std::uint64_t>(result_.globals, half.globals());
        result_.locals = std::max<std::uint64_t>(result_.locals, half.locals());
        return overseer_.look({result_.search.states, result_.search.transitions, half.waiting(),
                               result_.search.peak_bytes, 0});
    }

    // Every view of a global state in which attacks begin starts each of them.
    std::optional<Outcome> begin(FirstHalf& first, SecondHalf& second) {
        std::vector<std::optional<std::vector<GlobalNumber>>> starts(first.globals());
        std::vector<std::optional<LocalNumber>> not_joined(first.locals());
        Locals locals;
        for (std::size_t n = 0; n < first.views(); ++n) {
            auto const here = first.view(n, locals);
            if (!starts[here]) starts[here] = starts_at(first, here, second);
            if (starts[here]->empty()) continue;
            for (auto& local : locals) {
                if (!not_joined[local]) not_joined[local] = in_second_half(first, local, second);
                local = *not_joined[local];
            }
            std::ranges::sort(locals);
            for (auto const start : *starts[here]) second.add_view(start, locals);
            if (auto const outcome = look(second)) return outcome;
        }
        return std::nullopt;
    }

    std::vector<GlobalNumber> starts_at(FirstHalf& first, GlobalNumber here, SecondHalf& second) {
        std::vector<GlobalNumber> found;
        std::vector<Word> const state(first.state_of(here), first.state_of(here) + plain_.words());
        for (auto const attacker : attackers_) {
            auto const access = plain_.next_access(state.data(), attacker);
            if (!access || !is_store(&*access)) continue;
            CellSet seen;
            starts_.find(state.data(), attacker, *access, [&](std::uint32_t x) {
                if (seen[x]) return;
                seen.set(x);
                std::vector<Word> joint(attacked_.words(), 0);
                enter_second_half(program_, attacked_, state, {attacker, access->cell, x}, joint.data());
                found.push_back(second.global_of(joint.data()));
            });
        }
        return found;
    }

    LocalNumber in_second_half(FirstHalf const& first, LocalNumber local, SecondHalf& second) const {
        std::vector<Word> joint(attacked_.words(), 0);
        copy_words(joint.data(), first.local(local), plain_.words());
        return second.local_of(joint.data(), first.kind_of(local));
    }

    Program const& program_;
    AnyNumberQuestion const& question_;
    Limits limits_;
    Overseer overseer_;
    Machine<LabelMonitor> labelled_;
    Machine<NoMonitor> plain_;
    Machine<AfterRead> attacked_;
    AttackStarts starts_;
    std::vector<std::uint32_t> attackers_;
    AnyNumberResult result_;
    std::uint64_t views_before_ = 0, steps_before_ = 0;  // of the first half
    std::size_t bytes_before_ = 0;
};

}  // namespace

AnyNumberResult explore_attacks(Program const& program, AnyNumberQuestion const& question,
                                Limits const& limits, Watcher const& watcher) {
    return AttackSearch(program, question, limits, watcher).run();
}

}  // namespace fencepost
