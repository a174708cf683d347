// Where the small monitors of a topic can come to along the steps of a program.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "engine/control_flow.hpp"
#include "engine/program_graph.hpp"
#include "engine/topics.hpp"

namespace holdfast {

inline constexpr std::uint32_t nobody = UINT32_MAX;

// Threads, a bit for each.
using ThreadBits = std::uint32_t;

// An edge, and the node where it begins; then some exchanges of threads that leave the next node as it is.
struct GraphStep {
    StateNumber node;
    std::size_t edge;
    std::vector<std::uint32_t> exchanges;
};
using GraphPath = std::vector<GraphStep>;

// The search for violations of some topics that exchanges of threads turn into each other.
template <class Graph, std::size_t words>
class TopicSearch {
  public:
    using Bits = std::array<Word, words>;

    // Where a violation was found.
    struct Found {
        std::uint32_t element;
        std::uint32_t thread;
    };

    TopicSearch(Graph const& graph, Knowledge const& knowledge, std::vector<std::uint32_t> topics,
                bool subsumption, MemoryBudget& memory)
        : graph_(graph),
          knowledge_(knowledge),
          topics_(std::move(topics)),
          subsumption_(subsumption),
          elements_(memory, words + 2) {
        if (graph.size() * topics_.size() >= nobody) throw OutOfMemory("too many places");
        if (!anything_wakes()) {
            seeded_ = graph.size();
            return;
        }
        make_effects();
        places_ = memory.take(graph.size() * topics_.size() * sizeof(Place));
        find_askers();
    }

    // Looks at some more nodes or elements; false when there is nothing more to do.
    bool advance(std::size_t count) {
        for (; count > 0 && !found_; --count) {
            if (seeded_ < graph_.size()) {
                begin(static_cast<StateNumber>(seeded_++));
            } else if (next_ < elements_.size()) {
                go_on(next_++);
            } else {
                return false;
            }
        }
        return !found_;
    }

    std::optional<Found> const& found() const { return found_; }
    Topic const& topic_of(std::uint32_t element) const {
        return knowledge_.topics()[topics_[topic(element)]];
    }
    std::size_t size() const { return elements_.size(); }
    std::uint64_t transitions() const { return transitions_; }

    // How an element is reached, from a step on that begins the topic.
    GraphPath path_to(std::uint32_t element) const {
        GraphPath path;
        for (; parent(element) != nobody; element = parent(element)) {
            auto const before = parent(element);
            path.push_back(*step_between(node(before), topic(before), bits(before), element));
        }
        path.push_back(beginning_of(element));
        std::reverse(path.begin(), path.end());
        return path;
    }

  private:
    struct Effect {
        std::uint32_t first, last;                    // of the changes
        std::uint32_t first_exchange, last_exchange;  // and the exchanges
        std::uint32_t topic;                          // within the group
    };
    struct Askers {
        ThreadBits ever, now;  // who can ask about the topic: some time, and with the next access
    };
    // A topic at a node.
    struct Place {
        std::uint32_t last;  // element added, from 1 on; 0 if there is none
        Askers askers;
        bool can_be_sorted;  // some exchange of threads leaves the node as it is
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

    // Puts in what the steps of a node begin.
    void begin(StateNumber n) {
        for (auto e = graph_.first_edge(n); e < graph_.first_edge(n + 1); ++e) {
            auto const edge = graph_.edge(e);
            if (!begins_[edge.label]) continue;
            for (std::uint32_t k = 0; k < topics_.size(); ++k) follow(edge, k, dormant(), nobody);
        }
    }

    // Takes the steps of an element, unless it is superfluous.
    void go_on(std::uint32_t number) {
        if ((elements_[number][knowledge_.mark_word()] & Knowledge::mark) == 0) return;
        auto const from = bits(number);
        auto const n = node(number);
        auto const k = topic(number);
        auto const first = graph_.first_edge(n), last = graph_.first_edge(n + 1);
        for (auto e = first; e < last; ++e) __builtin_prefetch(&place(place_after(graph_.edge(e), k)));
        for (auto e = first; e < last && !found_; ++e) follow(graph_.edge(e), k, from, number);
    }

    bool anything_wakes() const {
        for (LabelNumber label = 0; label < graph_.labels().size(); ++label) {
            auto const told = graph_.labels().first(label);
            for (auto k : topics_) {
                if (told && knowledge_.wakes(*told, k)) return true;
            }
        }
        return false;
    }

    void make_effects() {
        auto const& labels = graph_.labels();
        begins_.resize(labels.size());
        std::vector<std::uint32_t> index(knowledge_.topics().size());
        for (std::uint32_t k = 0; k < topics_.size(); ++k) index[topics_[k]] = k;
        auto const size_of = [](auto const& list) { return static_cast<std::uint32_t>(list.size()); };
        for (LabelNumber label = 0; label < labels.size(); ++label) {
            auto const told = labels.told(label);
            for (std::uint32_t k = 0; k < topics_.size(); ++k) {
                auto const effect = knowledge_.effect(told, topics_[k]);
                auto const first = size_of(changes_), first_exchange = size_of(exchanges_);
                changes_.insert(changes_.end(), effect.changes.begin(), effect.changes.end());
                exchanges_.insert(exchanges_.end(), effect.exchanges.begin(), effect.exchanges.end());
                effects_.push_back(
                    {first, size_of(changes_), first_exchange, size_of(exchanges_), index[effect.topic]});
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
                graph_.load(stands.example(s), state.data());
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
            if (graph_.keeping(n) == 0) continue;
            for (std::uint32_t k = 0; k < topics_.size(); ++k)
                place(n * topics_.size() + k).can_be_sorted = true;
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
        for (auto i = effect.first_exchange; i < effect.last_exchange; ++i)
            knowledge_.exchanged_bits(exchanges_[i]).apply(bits.data());
    }

    std::uint32_t place_after(GraphEdge edge, std::uint32_t k) const {
        auto const topic = effects_[edge.label * topics_.size() + k].topic;
        return static_cast<std::uint32_t>(edge.target * topics_.size() + topic);
    }

    void follow(GraphEdge edge, std::uint32_t k, Bits bits, std::uint32_t from) {
        auto const& effect = effects_[edge.label * topics_.size() + k];
        apply(effect, bits);
        ++transitions_;
        insert(place_after(edge, k), bits, from);
    }

    // Of all bits that exchanges of threads turn into each other while they leave the node and the topic as
    // they are, a largest number, as far as exchanges one after the other come to it.
    void sort(std::uint32_t place_number, Bits& bits, std::vector<std::uint32_t>* made) const {
        auto const n = static_cast<StateNumber>(place_number / topics_.size());
        auto const topic = topics_[place_number % topics_.size()];
        auto const keeping = graph_.keeping(n);
        for (bool sorted = keeping == 0; !sorted;) {
            sorted = true;
            for (auto left = keeping; left != 0; left &= left - 1) {
                auto const number = static_cast<std::uint32_t>(std::countr_zero(left));
                if (knowledge_.exchanged_topic(number, topic) != topic) continue;
                auto exchanged = bits;
                knowledge_.exchanged_bits(number).apply(exchanged.data());
                if (exchanged <= bits) continue;
                bits = exchanged;
                sorted = false;
                if (made != nullptr) made->push_back(number);
            }
        }
    }

    void insert(std::uint32_t place_number, Bits bits, std::uint32_t from) {
        auto& here = place(place_number);
        if ((stale(bits) & here.askers.ever) == 0) return;  // dormant
        if (here.can_be_sorted) sort(place_number, bits, nullptr);
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

    GraphStep beginning_of(std::uint32_t element) const {
        for (StateNumber n = 0; n < graph_.size(); ++n) {
            for (std::uint32_t k = 0; k < topics_.size(); ++k) {
                if (auto step = step_between(n, k, dormant(), element)) return *step;
            }
        }
        throw std::logic_error("an element without beginning");
    }
    // The step of n that leads from these bits to the element.
    std::optional<GraphStep> step_between(StateNumber n, std::uint32_t k, Bits const& from,
                                          std::uint32_t element) const {
        for (auto e = graph_.first_edge(n); e < graph_.first_edge(n + 1); ++e) {
            auto const edge = graph_.edge(e);
            auto const& effect = effects_[edge.label * topics_.size() + k];
            if (edge.target != node(element) || effect.topic != topic(element)) continue;
            auto to = from;
            GraphStep step{n, e, {}};
            apply(effect, to);
            sort(place_after(edge, k), to, &step.exchanges);
            if (to == bits(element)) return step;
        }
        return std::nullopt;
    }

    Graph const& graph_;
    Knowledge const& knowledge_;
    std::vector<std::uint32_t> topics_;
    bool subsumption_;
    std::vector<Knowledge::Change> changes_;
    std::vector<std::uint32_t> exchanges_;
    std::vector<Effect> effects_;  // per label and topic
    std::vector<bool> begins_;     // per label: whether it wakes a topic
    Pages places_;                 // per node and topic
    Arena elements_;               // bits; the place, the next element there; the element it came from
    std::uint32_t next_ = 0;       // element to be looked at
    std::size_t seeded_ = 0;
    std::uint64_t transitions_ = 0;
    std::optional<Found> found_;
};

}  // namespace holdfast
