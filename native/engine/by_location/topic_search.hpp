// Which small monitors of a topic can be reached along the steps of a program.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/by_location/future_askers.hpp"
#include "engine/by_location/live_cells.hpp"
#include "engine/monitors/topics.hpp"
#include "engine/program/control_flow.hpp"
#include "engine/search/team.hpp"

namespace fencepost {

inline constexpr std::uint32_t nobody = UINT32_MAX;

// An edge, and the node where it begins; then some exchanges of threads that leave the next node as it is.
struct GraphStep {
    StateNumber node;
    std::size_t edge;
    std::vector<std::uint32_t> exchanges;
};
using GraphPath = std::vector<GraphStep>;

// The search for violations of one group of topics at a time; exchanges of threads turn the topics of a group
// into each other.
//
// A slot is a topic at a node. Slots, and the elements there, belong to parts of the search, which depend on
// the graph alone. The search goes in rounds: each part makes the steps of some of its elements, and sends
// what is new to the parts where it belongs; then each part stores what was sent to it, in the order of the
// senders. In either half no part sees the changes of another, so several workers can share them, and the
// search is the same for any number of workers.
template <std::size_t words>
class TopicSearch {
  public:
    using Bits = std::array<Word, words>;
    static constexpr std::size_t bytes_per_slot = 16;  // of a topic at a node
    using ElementNumber = std::uint64_t;  // the part in the upper half, the element there in the lower

    // Where a violation was found.
    struct Found {
        ElementNumber element;
        std::uint32_t thread;
    };

    // `groups` are all groups that will be taken up.
    TopicSearch(TopicGraph const& graph, TopicRules const& rules,
                std::vector<std::vector<std::uint32_t>> const& groups, bool subsumption, Team& team,
                MemoryBudget& memory)
        : graph_(graph),
          rules_(rules),
          subsumption_(subsumption),
          team_(team),
          memory_(memory),
          nodes_(graph.size()),
          row_shift_(std::clamp<std::size_t>(std::bit_width(nodes_ / 256), 7, 11) - 1) {
        std::size_t most_topics = 0;
        for (auto const& group : groups) most_topics = std::max(most_topics, group.size());
        if (nodes_ * most_topics >= nobody / 2) throw OutOfMemory("too many nodes and topics");
        static_assert(sizeof(TopicAtNode) == bytes_per_slot);
        slots_ = memory.take(nodes_ * most_topics * bytes_per_slot);
        auto const many = std::clamp(nodes_ / nodes_in_a_part, most_parts_if_small, most_parts);
        auto const parts =
            std::clamp<std::size_t>(std::bit_floor(nodes_ >> row_shift_), 1, std::bit_floor(many));
        for (std::size_t n = 0; n < parts; ++n) parts_.push_back(std::make_unique<Part>(memory));
        for (std::size_t n = 0; n < parts * senders_per_part; ++n)
            senders_.push_back(std::make_unique<Sender>(parts));
        desks_.resize(team.size());
        wakes_ = memory.take((nodes_ + 63) / 64 * sizeof(Word));
        waking_in_row_.resize(rows());
    }

    // Without `askers` the control flow of threads says whether they can still ask.
    void take_up(std::vector<std::uint32_t> topics, FutureAskers const* askers,
                 FutureAskers const* taught = nullptr, LiveCells const* live = nullptr) {
        elements_before_ = size();
        askers_ = askers;
        taught_ = taught;
        live_ = live;
        topics_ = std::move(topics);
        for (auto const& part : parts_) {
            part->elements.clear();
            part->next = 0;
            part->found.reset();
        }
        found_.reset();
        rows_begun_ = rows();
        if (!anything_wakes()) return;
        rows_begun_ = 0;
        make_effects();
        find_askers();
    }

    // Some rounds; false when there is nothing more to do.
    bool advance() {
        for (std::size_t done = 0; done < worth_sharing;) {
            auto const work = make_round();
            if (work == 0 || found_) return false;
            done += work;
        }
        return true;
    }

    std::optional<Found> const& found() const { return found_; }
    Topic const& topic_of(ElementNumber element) const {
        return rules_.topics()[topics_[topic(at(element))]];
    }
    // Elements and steps of all groups so far.
    std::size_t size() const {
        auto elements = elements_before_;
        for (auto const& part : parts_) elements += part->elements.size();
        return elements;
    }
    std::uint64_t transitions() const {
        std::uint64_t followed = 0;
        for (auto const& desk : desks_) followed += desk.transitions;
        return followed;
    }

    // How an element is reached, from a step that wakes the topic.
    GraphPath path_to(ElementNumber number) const {
        GraphPath path;
        auto const* element = at(number);
        for (; parent(element) != no_parent; element = at(parent(element))) {
            auto const* const before = at(parent(element));
            path.push_back(*step_between(node(before), topic(before), bits(before), element));
        }
        path.push_back(beginning_of(element));
        std::reverse(path.begin(), path.end());
        return path;
    }

  private:
    // With more parts and larger rounds, lists of elements get longer: by 1.5 % for the filter lock.
    static constexpr std::size_t most_parts = 64;  // as many as `PartBits`
    static constexpr std::size_t most_parts_if_small = 8;
    static constexpr std::size_t nodes_in_a_part = 1024;  // where there are more than eight parts
    static constexpr std::size_t senders_per_part = 4;
    static constexpr std::size_t waking_per_round = 128;              // nodes, of a sender
    static constexpr std::size_t elements_per_round = 256;            // the same
    static constexpr std::size_t block_bytes = std::size_t{1} << 16;  // of the elements of a part
    static constexpr std::size_t nodes_in_a_row = 4096;  // of a task that clears slots; 64 divides it
    static constexpr std::size_t words_in_a_row = nodes_in_a_row / 64;
    static constexpr std::size_t elements_ahead = 16;   // whose nodes are fetched
    static constexpr std::size_t enough_reached = 512;  // to be looked at together
    static constexpr std::size_t worth_sharing = 256;   // elements of all parts
    static constexpr ElementNumber no_parent = ~ElementNumber{0};

    struct Effect {
        std::uint32_t first, last;                    // of the changes
        std::uint32_t first_exchange, last_exchange;  // and the exchanges
        std::uint32_t topic;                          // within the group
    };
    struct Askers {
        ThreadBits ever, now;  // threads that can ask about the topic: some time, and with the next access
    };
    // A topic at a node.
    struct TopicAtNode {
        std::uint32_t last;  // element added, from 1 on; 0 if there is none
        Askers askers;
        bool can_be_sorted;  // some exchange of threads leaves the node as it is
    };
    // What a step leads to.
    struct Reached {
        Bits bits;
        std::uint32_t slot : 31;        // node and topic
        std::uint32_t covers_some : 1;  // of the elements that are there
        std::uint32_t from;             // element of the part that makes the step, or `nobody`
    };
    // Along the elements of a slot, in search of one that covers what was reached.
    struct Walk {
        std::uint32_t reached;
        Word const* element;
    };
    using PartBits = std::uint64_t;
    struct alignas(64) Part {
        explicit Part(MemoryBudget& memory) : elements(memory, words + 2, block_bytes) {}
        Arena elements;        // bits; the slot, the next element there; the element it came from
        std::size_t next = 0;  // element to be looked at
        std::optional<Found> found;
    };
    // What some of the steps of a part lead to, in this round; several senders make the steps of a part, so
    // that workers have about equally much to do.
    struct alignas(64) Sender {
        explicit Sender(std::size_t parts) : ends(parts) {}
        std::vector<Reached> sent;        // sorted by receiver
        std::vector<std::uint32_t> ends;  // in `sent`, per receiver
        PartBits receivers = 0;           // to whom anything was sent

        std::span<Reached const> sent_to(std::size_t part) const {
            auto const first = part == 0 ? 0 : ends[part - 1];
            return std::span(sent).subspan(first, ends[part] - first);
        }
    };
    // What a worker needs while it fills a sender.
    struct alignas(64) Desk {
        std::uint64_t transitions = 0;
        std::vector<Reached> reached, unsorted;
        std::vector<Walk> walks, walks_before;
    };

    // For each part, or sender.
    template <class Task>
    void each(std::size_t count, std::size_t work, Task task) {
        if (parts_.size() > 1 && work >= worth_sharing) {
            team_.each(count, task);
        } else {
            for (std::size_t n = 0; n < count; ++n) task(n, 0);
        }
    }
    std::size_t rows() const { return (nodes_ + nodes_in_a_row - 1) / nodes_in_a_row; }
    std::size_t part_of(std::uint32_t slot) const { return slot >> row_shift_ & (parts_.size() - 1); }
    Word const* at(ElementNumber number) const {
        return parts_[number >> 32]->elements[static_cast<std::uint32_t>(number)];
    }

    TopicAtNode& topic_at_node(std::size_t number) const { return slots_.template as<TopicAtNode>()[number]; }
    Bits dormant() const {
        Bits bits{};
        bits[rules_.mark_word()] = TopicRules::mark;
        return bits;
    }

    std::uint32_t topic_count() const { return static_cast<std::uint32_t>(topics_.size()); }
    StateNumber node(Word const* element) const {
        return static_cast<std::uint32_t>(element[words] >> 32) / topic_count();
    }
    std::uint32_t topic(Word const* element) const {
        return static_cast<std::uint32_t>(element[words] >> 32) % topic_count();
    }
    static ElementNumber parent(Word const* element) { return element[words + 1]; }
    Bits bits(Word const* element) const {
        Bits bits;
        std::copy_n(element, words, bits.begin());
        bits[rules_.mark_word()] |= TopicRules::mark;
        return bits;
    }

    // Returns how many nodes or elements there were to look at.
    std::size_t make_round() {
        auto work = take_waking();
        if (work > 0) {
            each(senders_.size(), work,
                 [&](std::size_t number, std::size_t worker) { begin(number, desks_[worker]); });
        } else {
            for (auto const& part : parts_) work += last_of_round(*part) - part->next;
            if (work == 0) return 0;
            each(senders_.size(), work,
                 [&](std::size_t number, std::size_t worker) { go_on(number, desks_[worker]); });
            for (auto const& part : parts_) part->next = last_of_round(*part);
        }
        PartBits receivers = 0;
        for (auto const& sender : senders_) receivers |= sender->receivers;
        each(parts_.size(), work, [&](std::size_t number, std::size_t) {
            if ((receivers >> number & 1) != 0) store(number);
        });
        for (auto const& part : parts_) {
            if (!found_) found_ = part->found;
        }
        return work;
    }
    std::size_t last_of_round(Part const& part) const {
        return std::min(part.elements.size(), part.next + senders_per_part * elements_per_round);
    }

    // Some more rows of nodes that have steps that wake a topic; returns how many such nodes.
    std::size_t take_waking() {
        first_row_ = rows_begun_;
        std::size_t waking = 0;
        while (rows_begun_ < rows() && waking < senders_.size() * waking_per_round)
            waking += waking_in_row_[rows_begun_++];
        return waking;
    }

    // Sends what the waking steps of some nodes lead to.
    void begin(std::size_t number, Desk& desk) {
        auto const first = first_row_ * words_in_a_row;
        auto const count = std::min(rows_begun_ * words_in_a_row, (nodes_ + 63) / 64) - first;
        auto const end = first + count * (number + 1) / senders_.size();
        for (auto w = first + count * number / senders_.size(); w < end; ++w) {
            for (auto left = wakes_.template as<Word>()[w]; left != 0; left &= left - 1)
                begin(desk,
                      static_cast<StateNumber>(w * 64 + static_cast<std::size_t>(std::countr_zero(left))));
            if (desk.reached.size() >= enough_reached) send(desk);
        }
        send(desk);
        fill(*senders_[number], desk);
    }
    void begin(Desk& desk, StateNumber node) {
        for (auto e = graph_.first_edge(node); e < graph_.first_edge(node + 1); ++e) {
            auto const edge = graph_.edge(e);
            if (!begins_[edge.label]) continue;
            for (std::uint32_t k = 0; k < topics_.size(); ++k) follow(desk, edge, k, dormant(), nobody);
        }
    }
    bool has_waking_step(StateNumber node) const {
        for (auto e = graph_.first_edge(node); e < graph_.first_edge(node + 1); ++e) {
            if (begins_[graph_.edge(e).label]) return true;
        }
        return false;
    }

    // Sends what the steps of some elements lead to, except of elements that others cover.
    void go_on(std::size_t number, Desk& desk) {
        auto const& part = *parts_[number / senders_per_part];
        auto next = part.next + number % senders_per_part * elements_per_round;
        auto const last = std::min(part.elements.size(), next + elements_per_round);
        for (; next < last; ++next) {
            auto const soon = next + elements_ahead, sooner = next + elements_ahead / 2;
            if (soon < last) graph_.prefetch_node(node(part.elements[soon]));
            if (sooner < last) graph_.prefetch_edges(node(part.elements[sooner]));
            auto const* const element = part.elements[next];
            if ((element[rules_.mark_word()] & TopicRules::mark) == 0) continue;
            auto const from = bits(element);
            auto const n = node(element);
            auto const k = topic(element);
            for (auto e = graph_.first_edge(n); e < graph_.first_edge(n + 1); ++e)
                follow(desk, graph_.edge(e), k, from, static_cast<std::uint32_t>(next));
            if (desk.reached.size() >= enough_reached) send(desk);
        }
        send(desk);
        fill(*senders_[number], desk);
    }

    // Most of what is reached is covered by a known element, and need not be sent. To find this out, the
    // lists of many slots are walked at the same time, so that the next elements arrive from memory
    // meanwhile.
    void send(Desk& desk) const {
        make_room(desk.unsorted, desk.unsorted.size() + desk.reached.size());
        for (std::uint32_t i = 0; i < desk.reached.size(); ++i) {
            auto& one = desk.reached[i];
            auto const& here = topic_at_node(one.slot);
            if ((stale(one.bits) & here.askers.ever) == 0) continue;  // dormant
            if (taught_ != nullptr && (stale(one.bits) & askers_if_taught(one)) == 0) continue;
            if (live_ != nullptr) {
                auto const* const mask = live_->mask(static_cast<StateNumber>(one.slot / topic_count()));
                for (std::size_t w = 0; w < std::min(words, rules_.words()); ++w) one.bits[w] |= mask[w];
            }
            if (here.can_be_sorted) sort(one.slot, one.bits, nullptr);
            walk_to(desk, i, here.last);
        }
        while (!desk.walks.empty()) {
            std::swap(desk.walks, desk.walks_before);
            desk.walks.clear();
            for (auto const& [i, element] : desk.walks_before) {
                auto& one = desk.reached[i];
                if (covers(element, one.bits.data())) continue;
                if (subsumption_ && covers(one.bits.data(), element)) one.covers_some = 1;
                walk_to(desk, i, static_cast<std::uint32_t>(element[words]));
            }
        }
        desk.reached.clear();
    }
    [[gnu::always_inline]] void walk_to(Desk& desk, std::uint32_t reached, std::uint32_t element) const {
        auto const& one = desk.reached[reached];
        auto const owner = part_of(one.slot);
        if (element != 0) {
            Word const* const there = parts_[owner]->elements[element - 1];
            __builtin_prefetch(there);
            desk.walks.push_back({reached, there});
        } else {
            desk.unsorted.push_back(one);
        }
    }

    template <class T>
    void make_room(std::vector<T>& list, std::size_t size) const {
        if (size <= list.capacity()) return;
        auto const room = std::max(size, list.capacity() + list.capacity() / 4);
        memory_.count((room - list.capacity()) * sizeof(T));
        list.reserve(room);
    }
    void fill(Sender& sender, Desk& desk) const {
        std::ranges::fill(sender.ends, 0);
        sender.receivers = 0;
        for (auto const& one : desk.unsorted) {
            auto const receiver = part_of(one.slot);
            ++sender.ends[receiver];
            sender.receivers |= PartBits{1} << receiver;
        }
        std::uint32_t before = 0;
        for (auto& end : sender.ends) end = std::exchange(before, before + end);
        make_room(sender.sent, desk.unsorted.size());
        sender.sent.resize(desk.unsorted.size());
        for (auto const& one : desk.unsorted) sender.sent[sender.ends[part_of(one.slot)]++] = one;
        desk.unsorted.clear();
    }
    ThreadBits askers_if_taught(Reached const& one) const {
        auto const k = topics_[one.slot % topic_count()];
        if (!rules_.is_taught(k, one.bits.data())) return ~ThreadBits{0};
        return taught_->ever(static_cast<StateNumber>(one.slot / topic_count()), k);
    }

    void store(std::size_t number) {
        auto& part = *parts_[number];
        auto const before = part.elements.size();
        for (std::size_t n = 0; n < senders_.size(); ++n) {
            if ((senders_[n]->receivers >> number & 1) == 0) continue;
            auto const sent = senders_[n]->sent_to(number);
            auto const from = n / senders_per_part << 32;
            for (auto const& one : sent) __builtin_prefetch(&topic_at_node(one.slot));
            for (auto const& one : sent) {
                if (part.found) return;
                insert(number, one, before, one.from == nobody ? no_parent : from | one.from);
            }
        }
    }

    bool anything_wakes() const {
        for (LabelNumber label = 0; label < graph_.labels().size(); ++label) {
            auto const event = graph_.labels().first(label);
            for (auto k : topics_) {
                if (event && rules_.wakes(*event, k)) return true;
            }
        }
        return false;
    }

    void make_effects() {
        auto const& labels = graph_.labels();
        changes_.clear();
        exchanges_.clear();
        effects_.clear();
        begins_.assign(labels.size(), false);
        std::vector<std::uint32_t> index(rules_.topics().size());
        for (std::uint32_t k = 0; k < topics_.size(); ++k) index[topics_[k]] = k;
        auto const size_of = [](auto const& list) { return static_cast<std::uint32_t>(list.size()); };
        for (LabelNumber label = 0; label < labels.size(); ++label) {
            auto const events = labels.events(label);
            for (std::uint32_t k = 0; k < topics_.size(); ++k) {
                auto const effect = rules_.effect(events, topics_[k]);
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

    // Which threads may ever ask, and which ask with their next access.
    void find_askers() {
        auto const& program = graph_.machine().program();
        auto const& stands = graph_.stands();
        std::vector<Askers> of_stand(stands.size() * topics_.size());
        for (std::uint32_t k = 0; k < topics_.size(); ++k) {
            auto const& about = rules_.topics()[topics_[k]];
            auto const asks = stands_that_ask(graph_, rules_, about);
            std::vector<std::vector<bool>> ever;
            for (auto const& thread : program.threads) ever.push_back(may_ever_ask(thread, about));
            for (std::size_t s = 0; s < stands.size(); ++s) {
                auto const& stand = stands[s];
                auto const& thread = program.threads[stand.thread];
                if (stand.point >= thread.accesses.size()) continue;
                auto& askers = of_stand[s * topics_.size() + k];
                ThreadBits const bit = ThreadBits{1} << stand.thread;
                if (ever[stand.thread][thread.accesses[stand.point]]) askers.ever = bit;
                if (asks[s]) askers.now = bit;
            }
        }
        team_.each(rows(), [&](std::size_t row, std::size_t) {
            auto* const wakes = wakes_.template as<Word>();
            std::fill_n(wakes + row * words_in_a_row,
                        std::min(words_in_a_row, (nodes_ + 63) / 64 - row * words_in_a_row), 0);
            std::uint32_t waking = 0;
            for (auto n = row * nodes_in_a_row; n < std::min((row + 1) * nodes_in_a_row, nodes_); ++n) {
                clear_slots(static_cast<StateNumber>(n), of_stand);
                if (!has_waking_step(static_cast<StateNumber>(n))) continue;
                wakes[n / 64] |= Word{1} << n % 64;
                ++waking;
            }
            waking_in_row_[row] = waking;
        });
    }
    // Written without being read: the first access to a page of fresh memory should be a write.
    void clear_slots(StateNumber n, std::vector<Askers> const& of_stand) const {
        bool const can_be_sorted = graph_.keeping(n) != 0;
        for (std::uint32_t k = 0; k < topics_.size(); ++k) {
            Askers askers{};
            for (std::uint32_t t = 0; t < graph_.machine().program().threads.size(); ++t) {
                auto const& mine = of_stand[graph_.stand(n, t) * topics_.size() + k];
                askers.ever |= mine.ever;
                askers.now |= mine.now;
            }
            if (askers_ != nullptr) askers.ever = askers_->ever(n, topics_[k]);
            topic_at_node(n * topics_.size() + k) = {0, askers, can_be_sorted};
        }
    }

    // Per instruction, whether it or one that can come after it may ask.
    std::vector<bool> may_ever_ask(Thread const& thread, Topic const& about) const {
        std::vector<bool> ever(thread.code.size());
        for (std::size_t pc = 0; pc < ever.size(); ++pc) ever[pc] = rules_.may_ask(about, thread.code[pc]);
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
        return static_cast<ThreadBits>(bits[0] & ((Word{1} << rules_.aware_shift()) - 1));
    }
    ThreadBits stale_and_aware(Bits const& bits) const {
        return stale(bits) & static_cast<ThreadBits>(bits[0] >> rules_.aware_shift());
    }

    void apply(Effect const& effect, Bits& bits) const {
        for (auto i = effect.first; i < effect.last; ++i) {
            auto const& change = changes_[i];
            Word const from = -(bits[change.from / 64] >> (change.from % 64) & 1);
            Word& word = bits[change.word];
            word = (word | (change.set & from)) & ~(change.clear & ~from);
        }
        for (auto i = effect.first_exchange; i < effect.last_exchange; ++i)
            rules_.exchanged_bits(exchanges_[i]).apply(bits.data());
    }

    std::uint32_t slot_after(GraphEdge edge, std::uint32_t k) const {
        auto const topic = effects_[edge.label * topics_.size() + k].topic;
        return static_cast<std::uint32_t>(edge.target * topics_.size() + topic);
    }

    void follow(Desk& desk, GraphEdge edge, std::uint32_t k, Bits bits, std::uint32_t from) const {
        auto const to = slot_after(edge, k);
        __builtin_prefetch(&topic_at_node(to));
        apply(effects_[edge.label * topics_.size() + k], bits);
        ++desk.transitions;
        desk.reached.push_back({bits, to & INT32_MAX, 0, from});
    }

    // Replaces the bits by larger ones as long as an exchange of threads that keeps the node and the topic
    // gives larger ones.
    void sort(std::uint32_t slot, Bits& bits, std::vector<std::uint32_t>* made) const {
        auto const n = static_cast<StateNumber>(slot / topics_.size());
        auto const topic = topics_[slot % topics_.size()];
        auto const keeping = graph_.keeping(n);
        for (bool sorted = keeping == 0; !sorted;) {
            sorted = true;
            for (auto left = keeping; left != 0; left &= left - 1) {
                auto const number = static_cast<std::uint32_t>(std::countr_zero(left));
                if (rules_.exchanged_topic(number, topic) != topic) continue;
                auto exchanged = bits;
                rules_.exchanged_bits(number).apply(exchanged.data());
                if (exchanged <= bits) continue;
                bits = exchanged;
                sorted = false;
                if (made != nullptr) made->push_back(number);
            }
        }
    }

    // The sender has looked at the elements before `known`. The newest of a slot come first in its list.
    void insert(std::size_t number, Reached const& sent, std::size_t known, ElementNumber from) {
        auto& part = *parts_[number];
        auto& here = topic_at_node(sent.slot);
        auto const& bits = sent.bits;
        Word* before = nullptr;  // the element that names the next one, if one does
        for (auto next = here.last; next > known || (next != 0 && sent.covers_some);) {
            Word* const element = part.elements[next - 1];
            next = static_cast<std::uint32_t>(element[words]);
            if (covers(element, bits.data())) return;
            if (!subsumption_ || !covers(bits.data(), element)) {
                before = element;
                continue;
            }
            element[rules_.mark_word()] &= ~TopicRules::mark;
            if (before == nullptr) {
                here.last = next;
            } else {
                before[words] = (before[words] & ~Word{UINT32_MAX}) | next;
            }
        }
        auto const index = part.elements.size();
        if (index >= nobody - 1) throw OutOfMemory("more monitors than can be numbered");
        Word* const added = part.elements.append();
        std::copy(bits.begin(), bits.end(), added);
        added[words] = Word{sent.slot} << 32 | here.last;
        added[words + 1] = from;
        here.last = static_cast<std::uint32_t>(index + 1);
        if (auto const threads = stale_and_aware(bits) & here.askers.now; threads != 0)
            part.found = violation(number << 32 | index, sent, threads);
    }
    // Of threads that are stale, aware and asking, one that the order S does not keep from its violation.
    [[gnu::noinline]] std::optional<Found> violation(ElementNumber element, Reached const& there,
                                                     ThreadBits threads) const {
        auto const& program = graph_.machine().program();
        auto const& about = rules_.topics()[topics_[there.slot % topic_count()]];
        for (; threads != 0; threads &= threads - 1) {
            auto const t = static_cast<std::uint32_t>(std::countr_zero(threads));
            auto const point = graph_.stands()[graph_.stand(there.slot / topic_count(), t)].point;
            auto const& access = program.threads[t].code[program.threads[t].accesses[point]];
            if (!rules_.bounds(about, t, access, there.bits.data())) return Found{element, t};
        }
        return std::nullopt;
    }

    // Without subsumption, whether they are equal.
    bool covers(Word const* larger, Word const* smaller) const {
        Word missing = 0;
        for (std::size_t i = 0; i < words; ++i)
            missing |= subsumption_ ? smaller[i] & ~larger[i] : smaller[i] ^ larger[i];
        return missing == 0;
    }

    GraphStep beginning_of(Word const* element) const {
        for (StateNumber n = 0; n < graph_.size(); ++n) {
            for (std::uint32_t k = 0; k < topics_.size(); ++k) {
                if (auto step = step_between(n, k, dormant(), element)) return *step;
            }
        }
        throw std::logic_error("an element without beginning");
    }
    // The step of n that leads from these bits to the element.
    std::optional<GraphStep> step_between(StateNumber n, std::uint32_t k, Bits const& from,
                                          Word const* element) const {
        for (auto e = graph_.first_edge(n); e < graph_.first_edge(n + 1); ++e) {
            auto const edge = graph_.edge(e);
            auto const& effect = effects_[edge.label * topics_.size() + k];
            if (edge.target != node(element) || effect.topic != topic(element)) continue;
            auto to = from;
            GraphStep step{n, e, {}};
            apply(effect, to);
            sort(slot_after(edge, k), to, &step.exchanges);
            if (to == bits(element)) return step;
        }
        return std::nullopt;
    }

    TopicGraph const& graph_;
    FutureAskers const* askers_ = nullptr;
    FutureAskers const* taught_ = nullptr;  // of topics that are taught
    LiveCells const* live_ = nullptr;
    TopicRules const& rules_;
    bool subsumption_;
    Team& team_;
    MemoryBudget& memory_;
    std::size_t nodes_;
    std::size_t row_shift_;  // 64 to 1024 slots in a row belong to one part
    std::vector<std::uint32_t> topics_;
    std::vector<TopicRules::Change> changes_;
    std::vector<std::uint32_t> exchanges_;
    std::vector<Effect> effects_;  // per label and topic
    std::vector<bool> begins_;     // per label: whether it wakes a topic
    Pages slots_;                  // per node and topic
    std::vector<std::unique_ptr<Part>> parts_;
    std::vector<std::unique_ptr<Sender>> senders_;  // some for each part
    std::vector<Desk> desks_;                       // of each worker
    Pages wakes_;                                   // per node: whether it has a step that wakes a topic
    std::vector<std::uint32_t> waking_in_row_;      // per row of nodes: how many have
    std::size_t first_row_ = 0, rows_begun_ = 0;    // of this round, and of all so far
    std::size_t elements_before_ = 0;               // of groups before this one
    std::optional<Found> found_;
};

}  // namespace fencepost
