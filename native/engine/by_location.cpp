#include "engine/by_location.hpp"

#include <atomic>
#include <thread>

#include "engine/program_graph.hpp"
#include "engine/search.hpp"
#include "engine/topic_search.hpp"

namespace holdfast {

namespace {

constexpr std::size_t most_words = 4;
constexpr std::size_t elements_between_looks = 256;

// Searches the program, and then group after group of topics; or several groups at the same time. What is
// found does not depend on how many workers there are: the violation, and the race, of the first group.
template <bool with_modes>
class LocationExplorer {
  public:
    LocationExplorer(Program const& program, SearchOptions const& options, Watcher const& watcher,
                     Knowledge const& knowledge)
        : options_(options),
          watcher_(watcher),
          knowledge_(knowledge),
          groups_(knowledge.groups()),
          found_(groups_.size()),
          memory_(options.limits.bytes),
          graph_(program, options.partial_order ? std::optional<PersistentSets>(program) : std::nullopt,
                 options.threads, memory_) {}

    Result run() {
        result_.state_bytes = (graph_.machine().key_words() + 1) * sizeof(Word);
        run_search(result_, [&] { return search(); });
        auto findings = graph_.findings();
        for (std::size_t g = 0; g < groups_.size(); ++g) add_finding(g, findings);
        auto const progress = now();
        result_.states = progress.states;
        result_.transitions = progress.transitions;
        result_.peak_bytes = graph_.store_memory().peak() + memory_.peak() + peak_bytes_;
        result_.seconds = since(start_);
        auto const origin_of = [&](StateNumber n) {
            return n < graph_.size() ? graph_.origin(n) : path_[n - graph_.size()];
        };
        describe(findings, graph_.machine(), graph_.symmetry(), origin_of, result_);
        return std::move(result_);
    }

  private:
    using Graph = ProgramGraph<with_modes>;

    // The way to a violation of a group: the edges, with the nodes where they begin.
    struct Found {
        GraphPath path;
        std::uint32_t thread;
        Topic topic;
    };

    bool is_about_races(std::size_t group) const {
        return knowledge_.topics()[groups_[group][0]].kind != Topic::Kind::stale_value;
    }

    Outcome search() {
        while (graph_.grow()) {
            if (auto const stop = poll()) return *stop;
        }
        if (graph_.findings().race) first_race_ = 0;
        {
            std::vector<std::jthread> helpers;
            working_ = options_.threads;
            for (std::uint32_t n = 1; n < options_.threads; ++n)
                helpers.emplace_back([this] { work(false); });
            work(true);
            while (working_ > 0) {
                look();
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        }
        if (failed_) std::rethrow_exception(failed_);
        if (auto const stop = stop_.load(); stop != Outcome::complete) return stop;
        return first_violation_ < groups_.size() ? Outcome::violation : Outcome::complete;
    }

    // Takes groups until there are none.
    void work(bool looks) {
        try {
            for (auto g = next_group_++; g < groups_.size(); g = next_group_++) {
                if (knowledge_.words() == 1) {
                    search_group<1>(g, looks);
                } else if (knowledge_.words() == 2) {
                    search_group<2>(g, looks);
                } else {
                    search_group<most_words>(g, looks);
                }
            }
        } catch (...) {
            if (!has_failed_.exchange(true)) failed_ = std::current_exception();
            stop_ = Outcome::interrupted;
        }
        --working_;
    }

    // Whether what a group could still find does not count.
    bool is_settled(std::size_t group) const {
        return stop_ != Outcome::complete || group > first_violation_ ||
               (is_about_races(group) && group >= first_race_);
    }

    template <std::size_t words>
    void search_group(std::size_t g, bool looks) {
        if (is_settled(g)) return;
        MemoryBudget memory((options_.limits.bytes - std::min(options_.limits.bytes, used_by_graph())) /
                            options_.threads);
        TopicSearch<Graph, words> topics(graph_, knowledge_, groups_[g], options_.store == StoreKind::maximal,
                                         memory);
        std::size_t elements = 0;
        std::uint64_t followed = 0;
        std::size_t bytes = 0;
        auto const account = [&] {
            elements_ += topics.size() - elements;
            followed_ += topics.transitions() - followed;
            bytes_ += memory.used() - bytes;
            elements = topics.size();
            followed = topics.transitions();
            bytes = memory.used();
        };
        for (bool goes_on = true; goes_on && !is_settled(g);) {
            goes_on = topics.advance(elements_between_looks);
            account();
            if (looks) look();
        }
        bytes_ -= bytes;
        for (auto peak = peak_bytes_.load();
             peak < memory.peak() && !peak_bytes_.compare_exchange_weak(peak, memory.peak());) {
        }
        if (!topics.found()) return;
        auto const& found = *topics.found();
        found_[g] = Found{topics.path_to(found.element), found.thread, topics.topic_of(found.element)};
        auto& first = is_about_races(g) ? first_race_ : first_violation_;
        for (auto known = first.load(); g < known && !first.compare_exchange_weak(known, g);) {
        }
    }

    void add_finding(std::size_t g, Findings& findings) {
        if (!found_[g]) return;
        if (!is_about_races(g)) {
            if (!findings.violation) findings.violation = place_of(*found_[g]);
        } else if (!findings.race) {
            auto const& topic = found_[g]->topic;
            bool const by_write = topic.kind == Topic::Kind::last_write;
            findings.race = {place_of(*found_[g]), none, {by_write, by_write ? 0 : topic.reader}};
        }
    }
    // Gives the states on the way numbers after those of the graph's nodes.
    Place place_of(Found const& found) {
        auto before = found.path.front().node;
        for (auto const& [node, edge] : found.path) {
            auto origin = graph_.origin_of_edge(node, edge);
            origin.parent = before;
            before = static_cast<StateNumber>(graph_.size() + path_.size());
            path_.push_back(origin);
        }
        return {before, found.thread};
    }

    std::size_t used_by_graph() const { return graph_.store_memory().used() + memory_.used(); }
    Progress now() const {
        auto const waiting = graph_.size() - graph_.expanded();
        return {graph_.size() + elements_, graph_.edges() + followed_, waiting, used_by_graph() + bytes_,
                since(start_)};
    }

    // By the first worker alone.
    void look() {
        try {
            if (auto const stop = poll()) stop_ = *stop;
        } catch (...) {  // from the watcher
            stop_ = Outcome::interrupted;
            throw;
        }
    }
    std::optional<Outcome> poll() {
        if (graph_.size() + elements_ >= options_.limits.states) return Outcome::state_limit;
        if (++polls_ % polls_between_looks != 0) return std::nullopt;
        auto const progress = now();
        if (progress.bytes > options_.limits.bytes) return Outcome::memory_limit;
        if (progress.seconds >= options_.limits.seconds) return Outcome::time_limit;
        if (progress.seconds < next_report_) return std::nullopt;
        next_report_ = progress.seconds + seconds_between_reports;
        if (watcher_ && watcher_(progress)) return Outcome::interrupted;
        return std::nullopt;
    }

    SearchOptions const& options_;
    Watcher const& watcher_;
    Knowledge const& knowledge_;
    std::vector<std::vector<std::uint32_t>> groups_;
    std::vector<std::optional<Found>> found_;  // per group
    MemoryBudget memory_;
    Graph graph_;
    std::vector<Origin> path_;
    std::uint64_t polls_ = 0;
    Clock::time_point start_ = Clock::now();
    double next_report_ = seconds_between_reports;
    std::atomic<std::size_t> next_group_ = 0;
    std::atomic<std::size_t> first_violation_ = SIZE_MAX, first_race_ = SIZE_MAX;  // groups
    std::atomic<std::uint64_t> elements_ = 0, followed_ = 0;
    std::atomic<std::size_t> bytes_ = 0, peak_bytes_ = 0;
    std::atomic<Outcome> stop_ = Outcome::complete;
    std::atomic<std::uint32_t> working_ = 0;
    std::atomic<bool> has_failed_ = false;
    std::exception_ptr failed_;
    Result result_;
};

}  // namespace

std::optional<Result> explore_by_location(Program const& program, Model model, SearchOptions const& options,
                                          Watcher const& watcher) {
    if (program.threads.size() > Knowledge::most_threads) return std::nullopt;
    Knowledge const knowledge(program, model == Model::rc20);
    if (knowledge.words() > most_words) return std::nullopt;
    try {
        if (model == Model::rc20) return LocationExplorer<true>(program, options, watcher, knowledge).run();
        return LocationExplorer<false>(program, options, watcher, knowledge).run();
    } catch (TooManyStands const&) {
        return std::nullopt;
    }
}

}  // namespace holdfast
