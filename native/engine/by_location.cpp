#include "engine/by_location.hpp"

#include "engine/program_graph.hpp"
#include "engine/search.hpp"
#include "engine/topic_search.hpp"

namespace holdfast {

namespace {

constexpr std::size_t most_words = 4;

// Searches the program, and then group after group of topics. What is found does not depend on how many
// workers there are: the violation, and the race, of the first group.
template <bool with_modes>
class LocationExplorer {
  public:
    LocationExplorer(Program const& program, SearchOptions const& options, Watcher const& watcher,
                     Knowledge const& knowledge)
        : options_(options),
          knowledge_(knowledge),
          groups_(knowledge.groups()),
          found_(groups_.size()),
          overseer_(options.limits, watcher),
          team_(options.threads),
          memory_(options.limits.bytes),
          graph_(program, options.partial_order ? std::optional<PersistentSets>(program) : std::nullopt,
                 options.threads, memory_) {}

    Result run() {
        result_.state_bytes = (graph_.machine().key_words() + 1) * sizeof(Word);
        run_search(result_, [&] { return search(); });
        auto findings = graph_.findings();
        for (std::size_t g = 0; g < groups_.size(); ++g) add_finding(g, findings);
        result_.states = graph_.size() + elements_;
        result_.transitions = graph_.edges() + followed_;
        result_.peak_bytes = used_by_graph() + peak_bytes_;
        result_.seconds = overseer_.seconds();
        describe(findings, graph_.machine(), graph_.symmetry(), Origins{graph_, path_}, result_);
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

    // How a node was reached, or with larger numbers a state on the way to a violation.
    struct Way {
        Origin origin;
        std::vector<std::uint32_t> exchanges;
    };
    struct Origins {
        Graph const& graph;
        std::vector<Way> const& path;
        Origin operator()(StateNumber n) const {
            return n < graph.size() ? graph.origin(n) : path[n - graph.size()].origin;
        }
        // That are made after the step to n, though its program state is the same before and after.
        std::vector<std::uint32_t> exchanges(StateNumber n) const {
            return n < graph.size() ? std::vector<std::uint32_t>() : path[n - graph.size()].exchanges;
        }
    };

    bool is_about_races(std::size_t group) const {
        return knowledge_.topics()[groups_[group][0]].kind != Topic::Kind::stale_value;
    }

    Outcome search() {
        while (graph_.grow()) {
            if (auto const stop = overseer_.glance(graph_.size(), [&] { return progress(0, 0, 0); }))
                return *stop;
        }
        bool has_race = graph_.findings().race.has_value();
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            if (is_about_races(g) && has_race) continue;
            if (auto const stop = search_group(g)) return *stop;
            if (!found_[g]) continue;
            if (!is_about_races(g)) return Outcome::violation;
            has_race = true;
        }
        return Outcome::complete;
    }

    std::optional<Outcome> search_group(std::size_t g) {
        if (knowledge_.words() == 1) return search_group<1>(g);
        return knowledge_.words() == 2 ? search_group<2>(g) : search_group<most_words>(g);
    }
    template <std::size_t words>
    std::optional<Outcome> search_group(std::size_t g) {
        MemoryBudget memory(options_.limits.bytes - std::min(options_.limits.bytes, used_by_graph()));
        TopicSearch<Graph, words> topics(graph_, knowledge_, groups_[g], options_.store == StoreKind::maximal,
                                         team_, memory);
        std::optional<Outcome> stop;
        while (!stop && topics.advance())
            stop = overseer_.look(progress(topics.size(), topics.transitions(), memory.used()));
        elements_ += topics.size();
        followed_ += topics.transitions();
        peak_bytes_ = std::max(peak_bytes_, memory.used());
        if (auto const& found = topics.found())
            found_[g] = Found{topics.path_to(found->element), found->thread, topics.topic_of(found->element)};
        return stop;
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
        for (auto const& [node, edge, exchanges] : found.path) {
            auto origin = graph_.origin_of_edge(node, edge);
            origin.parent = before;
            before = static_cast<StateNumber>(graph_.size() + path_.size());
            path_.push_back({origin, exchanges});
        }
        return {before, found.thread};
    }

    std::size_t used_by_graph() const { return graph_.store_memory().used() + memory_.used(); }
    // Given what the group being searched has so far.
    Progress progress(std::size_t elements, std::uint64_t followed, std::size_t bytes) const {
        return {graph_.size() + elements_ + elements, graph_.edges() + followed_ + followed,
                graph_.size() - graph_.expanded(), used_by_graph() + bytes, 0};
    }

    SearchOptions const& options_;
    Knowledge const& knowledge_;
    std::vector<std::vector<std::uint32_t>> groups_;
    std::vector<std::optional<Found>> found_;  // per group
    Overseer overseer_;
    Team team_;
    MemoryBudget memory_;
    Graph graph_;
    std::vector<Way> path_;
    std::uint64_t elements_ = 0, followed_ = 0;  // of the groups searched so far
    std::size_t peak_bytes_ = 0;                 // of a group
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
