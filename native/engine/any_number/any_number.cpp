#include "engine/any_number/any_number.hpp"

#include <algorithm>
#include <type_traits>

#include "engine/any_number/view_search.hpp"

namespace fencepost {

namespace {

class AnyNumberSearch {
  public:
    AnyNumberSearch(Program const& program, Model model, AnyNumberQuestion const& question,
                    Limits const& limits, Watcher const& watcher)
        : program_(program),
          question_(question),
          limits_(limits),
          overseer_(limits_, watcher),
          machine_(program, model) {
        if (with_rules(model, []<class Rules>(Rules) { return !std::is_same_v<Rules, Sc>; }))
            rules_.emplace(program, model);
    }

    AnyNumberResult run() {
        run_search(result_.search, [&] { return search(); });
        result_.search.states = views_before_;
        result_.search.transitions = steps_before_;
        result_.search.seconds = overseer_.seconds();
        return std::move(result_);
    }

  private:
    Outcome search() {
        if (!question_.reader) {
            if (auto const outcome = search(std::nullopt)) return *outcome;
        }
        if (!rules_) return Outcome::complete;
        for (std::uint32_t k = 0; k < rules_->topics().size(); ++k) {
            if (!is_asked(rules_->topics()[k])) continue;
            if (auto const outcome = search(k)) return *outcome;
        }
        return Outcome::complete;
    }

    bool is_asked(Topic const& topic) const {
        if (topic.kind != Topic::Kind::last_read) return !question_.reader;
        if (question_.reader) return topic.reader == *question_.reader;
        return std::ranges::none_of(question_.templates, [&](auto const& thread) {
            return topic.reader == thread.actor || topic.reader == thread.bystander;
        });
    }

    // Why the search has to end, if it has to.
    std::optional<Outcome> search(std::optional<std::uint32_t> topic) {
        ViewSearch views(program_, TopicBits(machine_, rules_ ? &*rules_ : nullptr, topic), question_,
                         limits_.bytes);
        views.start();
        auto const progress = [&] {
            return Progress{views_before_ + views.views(), steps_before_ + views.steps(), views.waiting(),
                            views.bytes(), 0};
        };
        std::optional<Outcome> outcome;
        while (!outcome && views.advance()) outcome = overseer_.look(progress());
        views_before_ += views.views();
        steps_before_ += views.steps();
        result_.search.peak_bytes = std::max(result_.search.peak_bytes, views.bytes());
        result_.globals = std::max<std::uint64_t>(result_.globals, views.globals());
        result_.locals = std::max<std::uint64_t>(result_.locals, views.locals());
        bool const about_races = topic && rules_->topics()[*topic].kind != Topic::Kind::stale_value;
        (about_races ? result_.race : result_.violation) |= views.violates();
        result_.race |= views.conflicts();
        result_.failure |= views.fails();
        result_.together |= views.excluded();
        return !outcome && result_.violation ? Outcome::violation : outcome;
    }

    Program const& program_;
    AnyNumberQuestion const& question_;
    Limits limits_;
    Overseer overseer_;
    Machine<LabelMonitor> machine_;
    std::optional<TopicRules> rules_;
    AnyNumberResult result_;
    std::uint64_t views_before_ = 0, steps_before_ = 0;  // of earlier topics
};

}  // namespace

AnyNumberResult explore_any_number(Program const& program, Model model, AnyNumberQuestion const& question,
                                   Limits const& limits, Watcher const& watcher) {
    return AnyNumberSearch(program, model, question, limits, watcher).run();
}

}  // namespace fencepost
