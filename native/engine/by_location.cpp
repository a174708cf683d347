#include "engine/by_location.hpp"

#include <array>

#include "engine/control_flow.hpp"
#include "engine/program_graph.hpp"
#include "engine/search.hpp"
#include "engine/topics.hpp"

namespace holdfast {

namespace {

constexpr std::size_t most_words = 4;
constexpr std::uint32_t nobody = UINT32_MAX;

// Threads, a bit for each.
using ThreadBits = std::uint32_t;

// The search for violations of some topics that exchanges of threads turn into each other.
template <bool with_modes, std::size_t words>
class TopicSearch {
  public:
    using Graph = ProgramGraph<with_modes>;
    using Bits = std::array<Word, words>;

    // Where a violation was found.
    struct Found {
        std::uint32_t element;
        std::uint32_t thread;
    };

    TopicSearch(Graph& graph, Knowledge const& knowledge, std::vector<std::uint32_t> topics, bool subsumption,
                MemoryBudget& memory)
        : graph_(graph),
          knowledge_(knowledge),
          topics_(std::move(topics)),
          subsumption_(subsumption),
          elements_(memory, words + 2),
          memory_(memory) {
        if (graph.size() * topics_.size() >= nobody) throw OutOfMemory("too many places");
        make_effects();
        places_ = memory.take(graph.size() * topics_.size() * sizeof(Place));
        find_askers();
    }
    ~TopicSearch() { memory_.release(std::move(places_)); }
    TopicSearch(TopicSearch const&) = delete;
    TopicSearch& operator=(TopicSearch const&) = delete;

    // Puts in what the writes of some more nodes begin; false when there are no more.
    bool begin_more() {
        auto const end = std::min<std::size_t>(seeded_ + 256, graph_.size());
        for (; seeded_ < end && !found_; ++seeded_) {
            auto const n = static_cast<StateNumber>(seeded_);
            for (auto e = graph_.first_edge(n); e < graph_.first_edge(n + 1); ++e) {
                auto const edge = graph_.edge(e);
                if (!begins_[edge.label]) continue;
                for (std::uint32_t k = 0; k < topics_.size(); ++k) follow(edge, k, dormant(), nobody);
            }
        }
        return seeded_ < graph_.size() && !found_;
    }

    // Takes the steps of one element; false when none waits.
    bool advance() {
        if (next_ == elements_.size() || found_) return false;
        auto const number = next_++;
        Word const* const element = elements_[number];
        if ((element[knowledge_.mark_word()] & Knowledge::mark) == 0) return true;  // superfluous
        Bits bits;
        std::copy_n(element, words, bits.begin());
        auto const n = node(number);
        auto const k = topic(number);
        auto const end = graph_.first_edge(n + 1);
        for (auto e = graph_.first_edge(n); e < end && !found_; ++e) follow(graph_.edge(e), k, bits, number);
        return true;
    }

    std::optional<Found> const& found() const { return found_; }
    Topic const& topic_of(std::uint32_t element) const {
        return knowledge_.topics()[topics_[topic(element)]];
    }
    std::size_t size() const { return elements_.size(); }
    std::uint64_t transitions() const { return transitions_; }
    std::uint64_t waiting() const { return elements_.size() - next_; }

    // The node and the edges from there that lead to an element.
    struct Path {
        StateNumber from;
        std::vector<std::pair<StateNumber, std::size_t>> edges;  // with the nodes where they begin
    };
    Path path_to(std::uint32_t element) const {
        Path path;
        for (; parent(element) != nobody; element = parent(element)) {
            auto const before = parent(element);
            path.edges.emplace_back(node(before),
                                    edge_between(node(before), topic(before), bits(before), element));
        }
        for (StateNumber n = 0; n < graph_.size(); ++n) {
            for (std::uint32_t k = 0; k < topics_.size(); ++k) {
                auto const e = edge_between(n, k, dormant(), element);
                if (e == graph_.first_edge(n + 1)) continue;
                path.edges.emplace_back(n, e);
                std::reverse(path.edges.begin(), path.edges.end());
                path.from = n;
                return path;
            }
        }
        throw std::logic_error("an element without beginning");
    }

  private:
    struct Effect {
        std::uint32_t first, last;  // of the changes
        std::uint32_t topic;        // within the group
    };
    struct Askers {
        ThreadBits ever, now;  // who can ask about the topic: some time, and with the next access
    };
    // A topic at a node.
    struct Place {
        std::uint32_t last;  // element added, from 1 on; 0 if there is none
        Askers askers;
    };

    Place& place(std::size_t number) const { return places_.template as<Place>()[number]; }
    Bits dormant() const {
        Bits bits{};
        bits[knowledge_.mark_word()] = Knowledge::mark;
        return bits;
    }

    StateNumber node(std::uint32_t element) const {
        return static_cast<StateNumber>((elements_[element][words] >> 32) / topics_.size());
    }
    std::uint32_t topic(std::uint32_t element) const {
        return static_cast<std::uint32_t>((elements_[element][words] >> 32) % topics_.size());
    }
    std::uint32_t parent(std::uint32_t element) const {
        return static_cast<std::uint32_t>(elements_[element][words + 1]);
    }
    Bits bits(std::uint32_t element) const {
        Bits bits;
        std::copy_n(elements_[element], words, bits.begin());
        bits[knowledge_.mark_word()] |= Knowledge::mark;
        return bits;
    }

    void make_effects() {
        auto const& labels = graph_.labels();
        begins_.resize(labels.size());
        std::vector<std::uint32_t> index(knowledge_.topics().size());
        for (std::uint32_t k = 0; k < topics_.size(); ++k) index[topics_[k]] = k;
        for (LabelNumber label = 0; label < labels.size(); ++label) {
            auto const told = labels.told(label);
            for (std::uint32_t k = 0; k < topics_.size(); ++k) {
                auto const effect = knowledge_.effect(told, topics_[k]);
                auto const first = static_cast<std::uint32_t>(changes_.size());
                changes_.insert(changes_.end(), effect.changes.begin(), effect.changes.end());
                effects_.push_back({first, static_cast<std::uint32_t>(changes_.size()), index[effect.topic]});
                auto bits = dormant();
                apply(effects_.back(), bits);
                if (stale(bits) != 0) begins_[label] = true;
            }
        }
    }

    // By control flow alone, who may ever ask; for the next access, where each thread stands.
    void find_askers() {
        auto const& program = graph_.machine().program();
        auto const& stands = graph_.stands();
        std::vector<Askers> of_stand(stands.size() * topics_.size());
        std::vector<Word> state(graph_.machine().words());
        for (std::uint32_t k = 0; k < topics_.size(); ++k) {
            auto const& about = knowledge_.topics()[topics_[k]];
            std::vector<std::vector<bool>> ever;
            for (auto const& thread : program.threads) ever.push_back(may_ever_ask(thread, about));
            for (std::size_t s = 0; s < stands.size(); ++s) {
                auto const& stand = stands[s];
                auto const& thread = program.threads[stand.thread];
                if (stand.point >= thread.accesses.size()) continue;
                auto& askers = of_stand[s * topics_.size() + k];
                ThreadBits const bit = ThreadBits{1} << stand.thread;
                if (ever[stand.thread][thread.accesses[stand.point]]) askers.ever = bit;
                graph_.load(stand.example, state.data());
                auto const access = graph_.machine().next_access(state.data(), stand.thread);
                if (knowledge_.asks(about, graph_.machine(), state.data(), stand.thread, *access))
                    askers.now = bit;
            }
        }
        for (StateNumber n = 0; n < graph_.size(); ++n) {
            for (std::uint32_t t = 0; t < program.threads.size(); ++t) {
                auto const* const mine = &of_stand[graph_.stand(n, t) * topics_.size()];
                for (std::uint32_t k = 0; k < topics_.size(); ++k) {
                    auto& askers = place(n * topics_.size() + k).askers;
                    askers.ever |= mine[k].ever;
                    askers.now |= mine[k].now;
                }
            }
        }
    }

    // Per instruction, whether it or one that can come after it may ask.
    std::vector<bool> may_ever_ask(Thread const& thread, Topic const& about) const {
        std::vector<bool> ever(thread.code.size());
        for (std::size_t pc = 0; pc < ever.size(); ++pc)
            ever[pc] = knowledge_.may_ask(about, thread.code[pc]);
        for (bool changed = true; changed;) {
            changed = false;
            for (auto pc = static_cast<std::uint32_t>(ever.size()); pc-- > 0;) {
                if (ever[pc]) continue;
                for (auto next : followers(thread, pc)) {
                    if (next >= ever.size() || !ever[next]) continue;
                    ever[pc] = changed = true;
                    break;
                }
            }
        }
        return ever;
    }

    ThreadBits stale(Bits const& bits) const {
        return static_cast<ThreadBits>(bits[0] & ((Word{1} << knowledge_.aware_shift()) - 1));
    }
    ThreadBits stale_and_aware(Bits const& bits) const {
        return stale(bits) & static_cast<ThreadBits>(bits[0] >> knowledge_.aware_shift());
    }

    void apply(Effect const& effect, Bits& bits) const {
        for (auto i = effect.first; i < effect.last; ++i) {
            auto const& change = changes_[i];
            Word const from = -(bits[change.from / 64] >> (change.from % 64) & 1);
            Word& word = bits[change.word];
            word = (word | (change.set & from)) & ~(change.clear & ~from);
        }
    }

    void follow(GraphEdge edge, std::uint32_t k, Bits bits, std::uint32_t from) {
        auto const& effect = effects_[edge.label * topics_.size() + k];
        apply(effect, bits);
        ++transitions_;
        insert(static_cast<std::uint32_t>(edge.target * topics_.size() + effect.topic), bits, from);
    }

    void insert(std::uint32_t place_number, Bits const& bits, std::uint32_t from) {
        auto& here = place(place_number);
        if ((stale(bits) & here.askers.ever) == 0) return;  // dormant
        Word* before = nullptr;  // the element that names the next one, if one does
        for (auto next = here.last; next != 0;) {
            Word* const element = elements_[next - 1];
            next = static_cast<std::uint32_t>(element[words]);
            if (covers(element, bits.data())) return;
            if (!subsumption_ || !covers(bits.data(), element)) {
                before = element;
                continue;
            }
            element[knowledge_.mark_word()] &= ~Knowledge::mark;
            if (before == nullptr) {
                here.last = next;
            } else {
                before[words] = (before[words] & ~Word{UINT32_MAX}) | next;
            }
        }
        auto const number = static_cast<std::uint32_t>(elements_.size());
        if (number >= nobody - 1) throw OutOfMemory("more monitors than can be numbered");
        Word* const added = elements_.append();
        std::copy(bits.begin(), bits.end(), added);
        added[words] = static_cast<Word>(place_number) << 32 | here.last;
        added[words + 1] = from;
        here.last = number + 1;
        if (auto const threads = stale_and_aware(bits) & here.askers.now; threads != 0)
            found_ = Found{number, static_cast<std::uint32_t>(std::countr_zero(threads))};
    }

    // Without subsumption, whether they are the same.
    bool covers(Word const* larger, Word const* smaller) const {
        Word missing = 0;
        for (std::size_t i = 0; i < words; ++i)
            missing |= subsumption_ ? smaller[i] & ~larger[i] : smaller[i] ^ larger[i];
        return missing == 0;
    }

    // The edge of n that leads from these bits to the element; the end of n's edges if there is none.
    std::size_t edge_between(StateNumber n, std::uint32_t k, Bits const& from, std::uint32_t element) const {
        auto e = graph_.first_edge(n);
        for (; e < graph_.first_edge(n + 1); ++e) {
            auto const edge = graph_.edge(e);
            if (edge.target != node(element)) continue;
            auto const& effect = effects_[edge.label * topics_.size() + k];
            auto to = from;
            apply(effect, to);
            if (effect.topic == topic(element) && to == bits(element)) break;
        }
        return e;
    }

    Graph& graph_;
    Knowledge const& knowledge_;
    std::vector<std::uint32_t> topics_;
    bool subsumption_;
    std::vector<Knowledge::Change> changes_;
    std::vector<Effect> effects_;  // per label and topic
    std::vector<bool> begins_;     // per label: whether it wakes a topic
    Pages places_;                 // per node and topic
    Arena elements_;               // bits; the place, the next element there; the element it came from
    MemoryBudget& memory_;
    std::uint32_t next_ = 0;  // element to be looked at
    std::size_t seeded_ = 0;
    std::uint64_t transitions_ = 0;
    std::optional<Found> found_;
};

template <bool with_modes>
class LocationExplorer {
  public:
    LocationExplorer(Program const& program, SearchOptions const& options, Watcher const& watcher,
                     Knowledge const& knowledge)
        : options_(options),
          watcher_(watcher),
          knowledge_(knowledge),
          memory_(options.limits.bytes),
          graph_(program, options.partial_order ? std::optional<PersistentSets>(program) : std::nullopt,
                 memory_) {}

    Result run() {
        result_.state_bytes = (graph_.machine().key_words() + 1) * sizeof(Word);
        run_search(result_, [&] { return search(); });
        result_.states = graph_.size() + elements_;
        result_.transitions = graph_.edges() + followed_;
        result_.peak_bytes = graph_.peak_store_bytes() + memory_.peak();
        result_.seconds = since(start_);
        auto const origin_of = [&](StateNumber n) {
            return n < graph_.size() ? graph_.origin(n) : path_[n - graph_.size()];
        };
        describe(graph_.findings(), graph_.machine(), graph_.symmetry(), origin_of, result_);
        return std::move(result_);
    }

  private:
    Outcome search() {
        while (graph_.grow()) {
            if (auto const stop = poll(0, 0, graph_.size() - graph_.expanded())) return *stop;
        }
        for (auto const& group : knowledge_.groups()) {
            auto const stop = dispatch(group);
            if (stop) return *stop;
        }
        return Outcome::complete;
    }

    std::optional<Outcome> dispatch(std::vector<std::uint32_t> const& group) {
        switch (knowledge_.words()) {
            case 1:
                return search_group<1>(group);
            case 2:
                return search_group<2>(group);
            default:
                return search_group<most_words>(group);
        }
    }

    template <std::size_t words>
    std::optional<Outcome> search_group(std::vector<std::uint32_t> const& group) {
        bool const is_race = knowledge_.topics()[group[0]].kind != Topic::Kind::stale_value;
        if (is_race && graph_.findings().race) return std::nullopt;
        TopicSearch<with_modes, words> topics(graph_, knowledge_, group, options_.store == StoreKind::maximal,
                                              memory_);
        auto const stop = [&] { return poll(topics.size(), topics.transitions(), topics.waiting()); };
        while (topics.begin_more()) {
            if (auto const outcome = stop()) return outcome;
        }
        while (topics.advance()) {
            if (auto const outcome = stop()) return outcome;
        }
        elements_ += topics.size();
        followed_ += topics.transitions();
        if (!topics.found()) return std::nullopt;
        auto const& found = *topics.found();
        auto const place = place_of(topics.path_to(found.element), found.thread);
        auto const& topic = topics.topic_of(found.element);
        if (!is_race) {
            graph_.findings().violation = place;
            return Outcome::violation;
        }
        bool const by_write = topic.kind == Topic::Kind::last_write;
        graph_.findings().race = {place, none, {by_write, by_write ? 0 : topic.reader}};
        return std::nullopt;
    }

    // Makes the path followable from origin to origin, with numbers after those of the graph's nodes.
    template <class Path>
    Place place_of(Path const& path, std::uint32_t thread) {
        auto before = path.from;
        for (auto const& [n, edge] : path.edges) {
            auto origin = graph_.origin_of_edge(n, edge);
            origin.parent = before;
            before = static_cast<StateNumber>(graph_.size() + path_.size());
            path_.push_back(origin);
        }
        return {before, thread};
    }

    std::optional<Outcome> poll(std::size_t elements, std::uint64_t followed, std::uint64_t waiting) {
        auto const states = graph_.size() + elements_ + elements;
        if (states >= options_.limits.states) return stopped(elements, followed, Outcome::state_limit);
        if (++polls_ % polls_between_looks != 0) return std::nullopt;
        auto const used = graph_.store_bytes() + memory_.used();
        if (used > options_.limits.bytes) return stopped(elements, followed, Outcome::memory_limit);
        double const now = since(start_);
        if (now >= options_.limits.seconds) return stopped(elements, followed, Outcome::time_limit);
        if (now < next_report_) return std::nullopt;
        next_report_ = now + seconds_between_reports;
        Progress const progress{states, graph_.edges() + followed_ + followed, waiting, used, now};
        if (watcher_ && watcher_(progress)) return stopped(elements, followed, Outcome::interrupted);
        return std::nullopt;
    }
    Outcome stopped(std::size_t elements, std::uint64_t followed, Outcome why) {
        elements_ += elements;
        followed_ += followed;
        return why;
    }

    SearchOptions const& options_;
    Watcher const& watcher_;
    Knowledge const& knowledge_;
    MemoryBudget memory_;
    ProgramGraph<with_modes> graph_;
    std::uint64_t elements_ = 0, followed_ = 0;
    std::vector<Origin> path_;
    std::uint64_t polls_ = 0;
    Clock::time_point start_ = Clock::now();
    double next_report_ = seconds_between_reports;
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
