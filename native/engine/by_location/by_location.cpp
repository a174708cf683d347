#include "engine/by_location/explore.hpp"
#include "engine/by_location/program_graph.hpp"
#include "engine/by_location/topic_search.hpp"
#include "engine/search/explorer.hpp"

namespace fencepost {

namespace {

constexpr std::size_t most_words = 4;

// Searches the program, and then one group of topics after the other. The violation and the race reported are
// those of the first group that has one, for any number of workers.
class LocationExplorer {
  public:
    LocationExplorer(Program const& program, Model model, SearchOptions const& options,
                     Watcher const& watcher, TopicRules const& rules)
        : options_(options),
          rules_(rules),
          groups_(rules.groups()),
          found_(groups_.size()),
          overseer_(options.limits, watcher),
          team_(options.threads),
          memory_(options.limits.bytes),
          graph_(program, model,
                 options.partial_order ? std::optional<PersistentSets>(program) : std::nullopt, team_,
                 memory_, options.may_compress),
          merged_nodes_(memory_, graph_.node_words(), merged_block_bytes),
          merged_edges_(memory_, 1, merged_block_bytes) {}

    Result run() {
        result_.state_bytes = (graph_.machine().key_words() + 1) * sizeof(Word);
        run_search(result_, [&] { return search(); });
        auto findings = graph_.findings();
        for (std::size_t g = 0; g < groups_.size(); ++g) add_finding(g, findings);
        auto const now = progress();
        result_.states = now.states;
        result_.transitions = now.transitions;
        result_.peak_bytes = std::max(now.bytes, graph_.peak_bytes());
        result_.compressed_after = graph_.compressed_after();
        result_.seconds = overseer_.seconds();
        describe(findings, graph_.machine(), graph_.symmetry(), origins(), result_);
        return std::move(result_);
    }

  private:
    // The way to a violation of a group: the edges, with the nodes where they begin.
    struct Found {
        GraphPath path;
        std::uint32_t thread;
        Topic topic;
    };

    // How a state on the way to a violation was reached.
    struct Way {
        Origin origin;
        std::vector<std::uint32_t> exchanges;
    };
    // With the exchanges after the step to a state, which leave its program state as it is.
    Origins origins() const {
        return {[this](StateNumber n) {
                    return n < graph_.size() ? graph_.origin(n) : path_[n - graph_.size()].origin;
                },
                [this](StateNumber n) {
                    return n < graph_.size() ? std::vector<std::uint32_t>()
                                             : path_[n - graph_.size()].exchanges;
                }};
    }

    static constexpr std::size_t bits_ahead = 128;  // of a node, mostly
    static constexpr std::size_t merged_block_bytes = std::size_t{1} << 16;

    bool is_about_races(std::size_t group) const {
        return rules_.topics()[groups_[group][0]].kind != Topic::Kind::stale_value;
    }

    Outcome search() {
        // A round of several workers takes much longer than a round of one.
        auto const stop = [&] {
            if (team_.size() > 1) return overseer_.look(progress());
            return overseer_.glance(graph_.size(), [&] { return progress(); });
        };
        while (graph_.grow()) {
            if (auto const outcome = stop()) return *outcome;
        }
        if (auto const outcome = overseer_.look(progress())) return *outcome;
        if (groups_.empty() || graph_.size() == 0) return Outcome::complete;
        if (rules_.words() == 1) return search_topics<1>();
        return rules_.words() == 2 ? search_topics<2>() : search_topics<most_words>();
    }

    // Looks for equal futures; why the search has to end meanwhile, if it has to.
    std::optional<Outcome> merge() {
        try {
            MemoryBudget memory(memory_left());
            EqualFutures futures(graph_, team_, memory);
            while (futures.split()) {
                if (auto const stop = overseer_.look(progress())) return stop;
            }
            memory_.allow(memory_.used() + memory_left() - std::min(memory_left(), memory.used()));
            is_merged_ = futures.merge(merged_nodes_, merged_edges_);
        } catch (OutOfMemory const&) {
            is_merged_ = false;  // topics may need less
        }
        return std::nullopt;
    }

    // Looks for those who can still ask about this group and some that come after it; why the search has to
    // end meanwhile, if it has to.
    std::optional<Outcome> look_ahead(TopicGraph const& graph, std::size_t g, MemoryBudget& memory) {
        std::vector<std::uint32_t> topics;
        auto const threads = graph.machine().program().threads.size();
        for (; g < groups_.size() && (topics.empty() || topics.size() * threads < bits_ahead); ++g) {
            if (g % options_.part.of == options_.part.number)
                topics.insert(topics.end(), groups_[g].begin(), groups_[g].end());
        }
        looked_ahead_ = g;
        askers_.reset();
        try {
            askers_.emplace(graph, rules_, std::move(topics), rows_ahead_, team_, memory);
            while (askers_->advance()) {
                if (auto const stop = overseer_.look(progress())) return stop;
            }
        } catch (OutOfMemory const&) {  // topics may need less
            askers_.reset();
        }
        return std::nullopt;
    }

    template <std::size_t words>
    Outcome search_topics() {
        if (options_.merging) {
            if (auto const stop = merge()) return *stop;
        }
        auto const nodes = is_merged_ ? merged_nodes_.size() : graph_.size();
        if (graph_.bytes() + bytes_of_topics<words>(nodes) > options_.limits.bytes / 2) graph_.compress();
        TopicGraph const whole(graph_), merged(graph_, merged_nodes_, merged_edges_);
        auto const& graph = is_merged_ ? merged : whole;
        MemoryBudget memory(memory_left());
        using Topics = TopicSearch<words>;
        Topics topics(graph, rules_, groups_, options_.store == StoreKind::maximal, team_, memory);
        bool has_race = graph_.findings().race.has_value();
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            if (g % options_.part.of != options_.part.number) continue;
            if (is_about_races(g) && has_race) continue;
            if (options_.lookahead && g >= looked_ahead_) {
                if (auto const stop = look_ahead(graph, g, memory)) return *stop;
            }
            auto const* const askers = askers_ ? &*askers_ : nullptr;
            if (auto const stop = search_group(topics, g, memory, askers)) return *stop;
            if (!topics.found()) continue;
            if (is_merged_) {
                // A run leads through the program's own states.
                elements_before_ = elements_;
                followed_before_ = followed_;
                Topics again(whole, rules_, {groups_[g]}, options_.store == StoreKind::maximal, team_,
                             memory);
                if (auto const stop = search_group(again, g, memory, nullptr)) return *stop;
                if (!again.found()) throw std::logic_error("states with the same future are different");
                note(g, again);
                elements_before_ = elements_ - topics.size();
                followed_before_ = followed_ - topics.transitions();
            } else {
                note(g, topics);
            }
            if (!is_about_races(g)) return Outcome::violation;
            has_race = true;
        }
        return Outcome::complete;
    }
    template <std::size_t words>
    std::optional<Outcome> search_group(TopicSearch<words>& topics, std::size_t g, MemoryBudget const& memory,
                                        FutureAskers const* askers) {
        topics.take_up(groups_[g], askers);
        for (bool goes_on = true; goes_on && !topics.found();) {
            goes_on = topics.advance();
            elements_ = elements_before_ + topics.size();
            followed_ = followed_before_ + topics.transitions();
            topic_bytes_ = memory.used();
            if (topics.found()) break;
            if (auto const stop = overseer_.look(progress())) return stop;
        }
        return std::nullopt;
    }
    template <std::size_t words>
    void note(std::size_t g, TopicSearch<words> const& topics) {
        auto const [element, thread] = *topics.found();
        found_[g] = Found{topics.path_to(element), thread, topics.topic_of(element)};
    }

    // What a search of topics takes at least.
    template <std::size_t words>
    std::size_t bytes_of_topics(std::size_t nodes) const {
        std::size_t most_topics = 0;
        for (auto const& group : groups_) most_topics = std::max(most_topics, group.size());
        return nodes * most_topics * TopicSearch<words>::bytes_per_slot;
    }

    void add_finding(std::size_t g, Findings& findings) {
        if (!found_[g]) return;
        if (!is_about_races(g)) {
            if (!findings.violation) findings.violation = end_of(*found_[g]);
        } else if (!findings.race) {
            auto const& topic = found_[g]->topic;
            bool const by_write = topic.kind == Topic::Kind::last_write;
            findings.race = {end_of(*found_[g]), none, {by_write, by_write ? 0 : topic.reader}};
        }
    }
    // The states on the way get the numbers after those of the graph's nodes.
    ThreadInState end_of(Found const& found) {
        auto before = found.path.front().node;
        for (auto const& [node, edge, exchanges] : found.path) {
            auto origin = graph_.origin_of_edge(node, edge);
            origin.parent = before;
            before = static_cast<StateNumber>(graph_.size() + path_.size());
            path_.push_back({origin, exchanges});
        }
        return {before, found.thread};
    }

    std::size_t memory_left() const {
        return options_.limits.bytes - std::min(options_.limits.bytes, used_by_graph());
    }
    std::size_t used_by_graph() const { return graph_.bytes(); }
    Progress progress() const {
        return {graph_.size() + elements_, graph_.edges() + followed_, graph_.size() - graph_.expanded(),
                used_by_graph() + topic_bytes_, 0};
    }

    SearchOptions const& options_;
    TopicRules const& rules_;
    std::vector<std::vector<std::uint32_t>> groups_;
    std::vector<std::optional<Found>> found_;  // per group
    Overseer overseer_;
    Team team_;
    MemoryBudget memory_;
    ProgramGraph graph_;
    bool is_merged_ = false;
    Arena merged_nodes_;
    EdgeArena merged_edges_;
    std::size_t looked_ahead_ = 0;  // the first group of which nothing is known ahead
    Pages rows_ahead_;
    std::optional<FutureAskers> askers_;
    std::vector<Way> path_;
    std::uint64_t elements_ = 0, followed_ = 0;                // of topics
    std::uint64_t elements_before_ = 0, followed_before_ = 0;  // by an earlier search for them
    std::size_t topic_bytes_ = 0;
    Result result_;
};

}  // namespace

std::optional<Result> explore_by_location(Program const& program, Model model, SearchOptions const& options,
                                          Watcher const& watcher) {
    bool const has_rules = with_rules(model, []<class Rules>(Rules) { return !std::is_same_v<Rules, Sc>; });
    if (!has_rules || program.threads.size() > TopicRules::most_threads) return std::nullopt;
    TopicRules const rules(program, model);
    if (rules.words() > most_words) return std::nullopt;
    try {
        return LocationExplorer(program, model, options, watcher, rules).run();
    } catch (TooManyNumbers const&) {
        return std::nullopt;
    }
}

}  // namespace fencepost
