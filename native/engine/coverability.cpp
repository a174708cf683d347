#include "engine/coverability.hpp"

#include <chrono>
#include <functional>

#include "engine/tuples.hpp"

namespace holdfast {
namespace {

constexpr std::uint32_t no_item = UINT32_MAX;
constexpr std::size_t most_joint_tuples = std::size_t{1} << 20;

struct State {
    std::vector<std::uint32_t> nodes;   // per thread, then the phase
    std::vector<Potential> potentials;  // per thread, then that of the observer of the final memory
};

}  // namespace

class Coverability::Search {
  public:
    Search(ThreadGraphs const& graphs, std::vector<BadStates> const& bad, Prunings const& prunings)
        : graphs_(graphs),
          sources_(graphs),
          prunings_(prunings),
          observer_(static_cast<std::uint32_t>(graphs.threads.size())),
          tuples_(graphs.threads.size() + 1) {
        for (auto const& graph : graphs.threads) ends_.push_back(ends_of(graph));
        if (prunings.joint) {
            if (auto joint = joint_tuples(graphs, sources_, most_joint_tuples))
                joint_.emplace(0, std::move(*joint));
        }
        for (auto const& states : bad) add_bad(states);
    }

    Outcome run(Limits const& limits, Watcher const& watcher) {
        auto const start = std::chrono::steady_clock::now();
        auto const elapsed = [&] {
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        };
        double told = 0;
        for (std::uint64_t n = 0; initial_ == no_item; ++n) {
            auto const item = next();
            if (item == no_item) return Outcome::complete;
            expand(item);
            if (items_.size() > limits.states) return Outcome::state_limit;
            if (n % 64 != 0) continue;
            if (bytes() > limits.bytes) return Outcome::memory_limit;
            auto const seconds = elapsed();
            if (seconds > limits.seconds) return Outcome::time_limit;
            if (seconds < told + 0.1) continue;
            told = seconds;
            if (watcher && watcher({items_.size(), stats_.transitions, waiting_, bytes(), seconds}))
                return Outcome::interrupted;
        }
        return Outcome::violation;
    }

    BackwardStats stats() const {
        auto result = stats_;
        result.states = items_.size();
        result.waiting = waiting_;
        result.bytes = bytes();
        for (auto const& bucket : buckets_) result.basis += bucket.size();
        return result;
    }

    std::vector<RunStep> path() const {
        std::vector<RunStep> steps;
        for (auto n = initial_; n != no_item && items_[n].after != no_item; n = items_[n].after) {
            auto const& item = items_[n];
            auto const& edge = graphs_.threads[item.thread].edges[item.edge];
            steps.push_back({item.thread, edge.pc, edge.label, edge.to, item.writer});
        }
        return steps;
    }

    std::vector<std::uint32_t> start_nodes() const {
        auto const nodes = tuples_[items_[initial_].tuple];
        return {nodes.begin(), nodes.begin() + observer_};
    }

    std::vector<BasisState> basis() const {
        std::vector<BasisState> result;
        for (auto const& bucket : buckets_) {
            for (auto const& entry : bucket) result.push_back(decoded(load(entry.item)));
        }
        return result;
    }

  private:
    // A state that was kept, and the step from it towards a bad one.
    struct Item {
        TupleNumber tuple;
        std::uint32_t after;  // the item that the step leads to, none for a bad state
        std::uint32_t edge;
        std::uint32_t thread : 8;
        std::uint32_t writer : 23;
        std::uint32_t kept : 1;
        std::uint64_t begin;  // of its potentials in `potentials_`
    };
    struct Entry {
        std::uint64_t signature;
        std::uint32_t item;
    };
    struct Step {
        std::uint32_t after, thread, edge, writer;
    };

    // The bad states.

    void add_bad(BadStates const& bad) {
        if (bad.race) {
            auto const [t, x] = *bad.race;
            for (SourceNumber s = 0; s < sources_.size(); ++s) {
                if (sources_[s].cell != x) continue;
                State state = blank();
                Option const stale(s, Flag::S);
                state.potentials[t].push_back(lists_.number({&stale, 1}));
                add_products(bad, state, 0);
            }
            return;
        }
        State state = blank();
        add_memories(bad, state, 0);
    }

    State blank() const {
        return {std::vector<std::uint32_t>(observer_ + 1), std::vector<Potential>(observer_ + 1)};
    }

    void add_memories(BadStates const& bad, State& state, std::size_t n) {
        if (n == bad.memory.size()) return add_products(bad, state, 0);
        for (auto s : sources_.of(bad.memory[n].cell, bad.memory[n].value)) {
            Option const last(s, Flag::U);
            state.potentials[observer_].push_back(lists_.number({&last, 1}));
            add_memories(bad, state, n + 1);
            state.potentials[observer_].pop_back();
        }
    }

    void add_products(BadStates const& bad, State& state, std::uint32_t t) {
        if (t == observer_) {
            state.nodes[observer_] = 0;
            return arrive(state, {no_item, 0, 0, 0});
        }
        if (bad.nodes[t].empty()) {
            state.nodes[t] = graphs_.threads[t].anywhere();
            return add_products(bad, state, t + 1);
        }
        for (auto node : bad.nodes[t]) {
            state.nodes[t] = node;
            add_products(bad, state, t + 1);
        }
    }

    // Phases.

    std::uint32_t free() const { return observer_; }
    std::uint32_t in_block(std::uint32_t t) const { return observer_ + 1 + t; }

    // What can lead to a node: reads (and silent steps), or a write or nothing, so that a block ends there.
    struct Ends {
        bool read, write;
    };
    static std::vector<Ends> ends_of(ThreadGraph const& graph) {
        std::vector<Ends> ends(graph.nodes.size() + 1, Ends{false, false});
        for (auto const& edge : graph.edges)
            (edge.label.writes() ? ends[edge.to].write : ends[edge.to].read) = true;
        for (auto node : graph.initial) ends[node].write = true;
        ends[graph.anywhere()].write = true;
        return ends;
    }

    // Adds the state in its phase, if something can be undone in it, and in those that follow at once.
    void arrive(State const& state, Step const& step) {
        auto const phase = state.nodes[observer_];
        if (phase == free()) return add(state, step);
        auto const t = phase < observer_ ? phase : phase - free() - 1;
        auto const [read, write] = ends_[t][state.nodes[t]];
        if (read) add(state, step);
        if (!write) return;
        State next = state;
        next.nodes[observer_] = phase < observer_ ? phase + 1 : free();
        arrive(next, step);
    }

    // One step back.

    void expand(std::uint32_t number) {
        State const state = load(number);
        auto const phase = state.nodes[observer_];
        if (phase == free()) {
            for (std::uint32_t t = 0; t < observer_; ++t) undo_writes(number, state, t);
        } else {
            undo_reads(number, state, phase < observer_ ? phase : phase - free() - 1);
        }
    }

    void undo_reads(std::uint32_t number, State const& state, std::uint32_t t) {
        auto const& graph = graphs_.threads[t];
        for (auto e : graph.in[state.nodes[t]]) {
            if (!graph.edges[e].label.writes()) undo(number, state, t, e);
        }
    }

    void undo_writes(std::uint32_t number, State const& state, std::uint32_t t) {
        auto const& graph = graphs_.threads[t];
        if (state.nodes[t] != graph.anywhere()) {
            for (auto e : graph.in[state.nodes[t]]) {
                if (graph.edges[e].label.writes()) undo(number, state, t, e);
            }
            return;
        }
        for (std::uint32_t e = 0; e < graph.edges.size(); ++e) {
            auto const& label = graph.edges[e].label;
            if (label.writes() && is_asked_for(state, sources_.by(t, label.cell, label.written)))
                undo(number, state, t, e);
        }
    }

    // Whether some option can be taken by this write, or waits for its cell to be overwritten.
    bool is_asked_for(State const& state, SourceNumber source) const {
        for (auto const& potential : state.potentials) {
            for (auto list : potential) {
                for (auto option : lists_[list]) {
                    if (option.source() == source) return true;
                    if (option.flag() == Flag::S && is_on(option, sources_[source].cell)) return true;
                }
            }
        }
        return false;
    }

    void undo(std::uint32_t number, State const& state, std::uint32_t t, std::uint32_t e) {
        if (initial_ != no_item || !items_[number].kept)
            return;  // found, or covered by a predecessor of its own
        auto const& edge = graphs_.threads[t].edges[e];
        State before = state;
        before.nodes[t] = edge.from;
        if (before.nodes[observer_] == free()) before.nodes[observer_] = in_block(t);
        back_over(before, {number, t, e, observer_}, edge.label);
    }

    void back_over(State& state, Step step, Label const& label) {
        switch (label.kind) {
            case LabelKind::silent:
                return arrive(state, step);
            case LabelKind::read:
                return read_back(state, step, label, Flag::R);
            case LabelKind::write:
                return write_back(state, step.thread, label, [&](State& before) { arrive(before, step); });
            case LabelKind::read_modify_write:
                return write_back(state, step.thread, label,
                                  [&](State& before) { read_back(before, step, label, Flag::U); });
        }
    }

    // READ of Figure 4: one more option in front of every list of the thread, by each possible writer.
    void read_back(State const& state, Step step, Label const& label, Flag flag) {
        for (auto s : sources_.of(label.cell, label.read)) {
            Option const option(s, flag);
            if (!is_possible(option, step.thread, state.nodes)) {
                ++stats_.impossible;
                continue;
            }
            State before = state;
            auto& potential = before.potentials[step.thread];
            if (potential.empty()) {
                potential.push_back(lists_.number({&option, 1}));
            } else {
                for (auto& list : potential) list = preceded(option, list);
            }
            step.writer = sources_[s].writer;
            arrive(before, step);
        }
    }

    ListNumber preceded(Option option, ListNumber list) {
        auto const options = lists_[list];
        scratch_.assign(1, option);
        scratch_.insert(scratch_.end(), options.begin(), options.end());
        return lists_.number(scratch_);
    }

    // WRITE of Figure 4. In a list of the writer every option on the cell is from this write. In a list of
    // another thread some last ones of its options on the cell are; what follows the first of these must have
    // been possible for the writer. The others stay, so they do not ask for the last write; one that asked
    // for an overwritten write has it now.
    template <class Then>
    void write_back(State& state, std::uint32_t t, Label const& label, Then then) {
        auto const source = sources_.by(t, label.cell, label.written);
        for (auto& list : state.potentials[t]) {
            if (on_cell(list, label.cell) == 0) continue;
            if (taken_at_most(list, label.cell, source) < on_cell(list, label.cell)) return;
            list = without(list, label.cell, on_cell(list, label.cell));
        }
        std::vector<Choice> choices;
        for (std::uint32_t u = 0; u < state.potentials.size(); ++u) {
            if (u == t) continue;
            for (std::size_t n = 0; n < state.potentials[u].size(); ++n) {
                auto const list = state.potentials[u][n];
                if (on_cell(list, label.cell) == 0) continue;
                Choice const choice{u, n, list, taken_at_least(list, label.cell),
                                    taken_at_most(list, label.cell, source)};
                if (choice.least > choice.most) return;
                choices.push_back(choice);
            }
        }
        choose(state, t, label.cell, choices, 0, then);
    }

    // A list of another thread with options on the cell, and how many of them this write can be the source
    // of.
    struct Choice {
        std::uint32_t thread;
        std::size_t place;
        ListNumber list;
        std::size_t least, most;
    };

    template <class Then>
    void choose(State& state, std::uint32_t t, std::uint32_t cell, std::vector<Choice> const& choices,
                std::size_t n, Then then) {
        if (n == choices.size()) {
            State before = state;
            return then(before);
        }
        auto const& choice = choices[n];
        for (auto taken = choice.least; taken <= choice.most; ++taken) {
            state.potentials[choice.thread][choice.place] = without(choice.list, cell, taken);
            if (taken == 0) {
                choose(state, t, cell, choices, n + 1, then);
                continue;
            }
            state.potentials[t].push_back(justification(choice.list, cell, taken));
            choose(state, t, cell, choices, n + 1, then);
            state.potentials[t].pop_back();
        }
    }

    bool is_on(Option option, std::uint32_t cell) const { return sources_[option.source()].cell == cell; }

    std::size_t on_cell(ListNumber list, std::uint32_t cell) const {
        auto const options = lists_[list];
        return static_cast<std::size_t>(
            std::count_if(options.begin(), options.end(), [&](Option o) { return is_on(o, cell); }));
    }

    // How many of the last options on the cell can be from this source.
    std::size_t taken_at_most(ListNumber list, std::uint32_t cell, SourceNumber source) const {
        auto const options = lists_[list];
        std::size_t count = 0;
        for (auto i = options.size(); i-- > 0;) {
            if (!is_on(options[i], cell)) continue;
            if (options[i].source() != source || options[i].flag() == Flag::S) break;
            ++count;
        }
        return count;
    }

    // How many must be, since one of them asks for the last write.
    std::size_t taken_at_least(ListNumber list, std::uint32_t cell) const {
        auto const options = lists_[list];
        std::size_t count = 0, least = 0;
        for (auto i = options.size(); i-- > 0;) {
            if (!is_on(options[i], cell)) continue;
            ++count;
            if (options[i].flag() == Flag::U) least = count;
        }
        return least;
    }

    // The list less its last `taken` options on the cell; S becomes R in those that are left.
    ListNumber without(ListNumber list, std::uint32_t cell, std::size_t taken) {
        auto stays = on_cell(list, cell) - taken;
        scratch_.clear();
        for (auto option : lists_[list]) {
            if (!is_on(option, cell)) {
                scratch_.push_back(option);
            } else if (stays > 0) {
                scratch_.push_back(option.flag() == Flag::S ? Option(option.source(), Flag::R) : option);
                --stays;
            }
        }
        return lists_.number(scratch_);
    }

    // What follows the first of the last `taken` options on the cell, less those on the cell.
    ListNumber justification(ListNumber list, std::uint32_t cell, std::size_t taken) {
        auto stays = on_cell(list, cell) - taken;
        bool begun = false;
        scratch_.clear();
        for (auto option : lists_[list]) {
            if (is_on(option, cell)) {
                begun = begun || stays == 0;
                if (stays > 0) --stays;
            } else if (begun) {
                scratch_.push_back(option);
            }
        }
        return lists_.number(scratch_);
    }

    // Keeping states.

    void add(State state, Step const& step) {
        ++stats_.transitions;
        for (auto& potential : state.potentials) keep_longest(potential);
        if (!can_be_together(state.nodes) || !is_possible(state)) {
            ++stats_.impossible;
            return;
        }
        auto const signature = signature_of(state);
        if (is_covered(state, signature)) {
            ++stats_.covered;
            return;
        }
        auto const [tuple, is_new] = tuples_.add(state.nodes);
        if (is_new) buckets_.emplace_back();
        auto& bucket = buckets_[tuple];
        if (prunings_.subsumption) drop_above(state, signature, bucket);
        auto const number = static_cast<std::uint32_t>(items_.size());
        items_.push_back({tuple, step.after, step.edge, static_cast<std::uint8_t>(step.thread),
                          step.writer & 0x7fffff, 1, potentials_.size()});
        bucket.push_back({signature, number});
        auto const weight = save(state);
        if (weight >= queue_.size()) queue_.resize(weight + 1);
        queue_[weight].push_back(number);
        ++waiting_;
        if (is_initial(state)) initial_ = number;
    }

    // Drops lists that are subsequences of others of the same thread, and the empty one.
    void keep_longest(Potential& potential) const {
        std::sort(potential.begin(), potential.end());
        potential.erase(std::unique(potential.begin(), potential.end()), potential.end());
        for (std::size_t i = 0; i < potential.size();) {
            auto const list = lists_[potential[i]];
            bool const is_needed =
                !list.empty() && std::none_of(potential.begin(), potential.end(), [&](auto other) {
                    return other != potential[i] && is_subsequence(list, lists_[other]);
                });
            if (is_needed) {
                ++i;
            } else {
                potential.erase(potential.begin() + static_cast<std::ptrdiff_t>(i));
            }
        }
    }

    // Whether a known state, with the threads at the same nodes or anywhere, is below this one.
    bool is_covered(State const& state, std::uint64_t signature, std::uint32_t except = no_item) {
        auto const mask = anywhere_mask(state.nodes);
        if (std::find(masks_.begin(), masks_.end(), mask) == masks_.end()) masks_.push_back(mask);
        auto const flat = view(state);
        return std::any_of(masks_.begin(), masks_.end(), [&](std::uint64_t wider) {
            if ((mask & ~wider) != 0 || (wider != mask && (!prunings_.subsumption))) return false;
            auto const tuple = tuples_.find(widened(state.nodes, wider));
            return tuple &&
                   std::any_of(buckets_[*tuple].begin(), buckets_[*tuple].end(), [&](Entry const& entry) {
                       if (entry.item == except) return false;
                       if (!prunings_.subsumption)
                           return entry.signature == signature && is_same(saved(entry.item), flat);
                       return (entry.signature & ~signature) == 0 && is_below(saved(entry.item), flat);
                   });
        });
    }

    // The threads that stand anywhere.
    std::uint64_t anywhere_mask(Nodes nodes) const {
        std::uint64_t mask = 0;
        for (std::uint32_t t = 0; t < observer_; ++t) {
            if (nodes[t] == graphs_.threads[t].anywhere()) mask |= std::uint64_t{1} << t;
        }
        return mask;
    }

    std::vector<std::uint32_t> widened(Nodes nodes, std::uint64_t mask) const {
        std::vector<std::uint32_t> result(nodes.begin(), nodes.end());
        for (std::uint32_t t = 0; t < observer_; ++t) {
            if ((mask >> t & 1) != 0) result[t] = graphs_.threads[t].anywhere();
        }
        return result;
    }

    void drop_above(State const& state, std::uint64_t signature, std::vector<Entry>& bucket) {
        std::erase_if(bucket, [&](Entry const& entry) {
            if ((signature & ~entry.signature) != 0 || !is_below(view(state), saved(entry.item)))
                return false;
            items_[entry.item].kept = 0;
            return true;
        });
    }

    bool is_initial(State const& state) const {
        if (state.nodes[observer_] != free()) return false;
        for (std::uint32_t t = 0; t < observer_; ++t) {
            if (state.nodes[t] == graphs_.threads[t].anywhere()) continue;
            auto const& initial = graphs_.threads[t].initial;
            if (std::find(initial.begin(), initial.end(), state.nodes[t]) == initial.end()) return false;
        }
        for (auto const& potential : state.potentials) {
            for (auto list : potential) {
                for (auto option : lists_[list]) {
                    if (sources_[option.source()].writer != observer_ || option.flag() == Flag::S)
                        return false;
                }
            }
        }
        return true;
    }

    // Prunings.

    // Whether, between blocks, the threads can stand at these nodes.
    bool can_be_together(Nodes nodes) {
        if (joint_.empty() || nodes[observer_] != free()) return true;
        auto const mask = anywhere_mask(nodes);
        auto const [at, is_new] = joint_.try_emplace(mask, TuplePool(observer_));
        if (is_new) {
            auto const& all = joint_.at(0);
            for (TupleNumber n = 0; n < all.size(); ++n) at->second.add(widened(all[n], mask));
        }
        return at->second.find(nodes.first(observer_)).has_value();
    }

    // Whether a graph with the threads at these nodes can have the write that the option of `holder` stands
    // for.
    bool is_possible(Option option, std::uint32_t holder, Nodes nodes) const {
        if (!prunings_.sources) return true;
        auto const s = option.source();
        auto const& [writer, cell, value] = sources_[s];
        if (writer == observer_) {
            if (option.flag() == Flag::U) {
                for (std::uint32_t u = 0; u < observer_; ++u) {
                    if (!sources_.never_wrote(u, nodes[u], cell)) return false;
                }
            }
            return holder == observer_ || sources_.never_wrote(holder, nodes[holder], cell);
        }
        bool const must_be_last = option.flag() == Flag::U || writer == holder;
        return must_be_last ? sources_.last(writer, nodes[writer], s)
                            : sources_.written(writer, nodes[writer], s);
    }

    // Whether, in a list, `b` can follow `a`.
    bool can_follow(Option a, Option b, Nodes nodes) const {
        auto const& [writer, cell, value] = sources_[a.source()];
        auto const& later = sources_[b.source()];
        if (cell == later.cell) {
            if (later.writer == observer_ && writer != observer_) return false;
            if (a.flag() == Flag::U && a.source() != b.source()) return false;
        }
        if (writer == observer_) return true;
        if (later.writer == observer_)
            return sources_.initial_after(writer, nodes[writer], a.source(), later.cell);
        return writer != later.writer || sources_.after(writer, nodes[writer], a.source(), b.source());
    }

    bool is_possible(State const& state) {
        lasts_.clear();
        for (std::uint32_t t = 0; t < state.potentials.size(); ++t) {
            for (auto list : state.potentials[t]) {
                auto const options = lists_[list];
                for (std::size_t j = 0; j < options.size(); ++j) {
                    if (!is_possible(options[j], t, state.nodes)) return false;
                    if (prunings_.sources && !is_the_last(options[j])) return false;
                    for (std::size_t i = 0; prunings_.pairs && i < j; ++i) {
                        if (!can_follow(options[i], options[j], state.nodes)) return false;
                    }
                }
            }
        }
        return true;
    }

    // A cell has one last write: options that ask for it ask for the same.
    bool is_the_last(Option option) {
        if (option.flag() != Flag::U) return true;
        for (auto other : lasts_) {
            if (other == option.source()) return true;
            if (sources_[other].cell == sources_[option.source()].cell) return false;
        }
        lasts_.push_back(option.source());
        return true;
    }

    // Saved states: for each thread the number of its lists, then these.

    using Saved = std::uint32_t const*;

    std::size_t save(State const& state) {
        std::size_t weight = 0;
        for (auto const& potential : state.potentials) {
            potentials_.push_back(static_cast<std::uint32_t>(potential.size()));
            for (auto list : potential) {
                potentials_.push_back(list);
                auto const length = lists_[list].size();
                weight += length;
                stats_.longest = std::max<std::uint64_t>(stats_.longest, length);
            }
        }
        return weight;
    }

    Saved saved(std::uint32_t item) const { return potentials_.data() + items_[item].begin; }

    State load(std::uint32_t item) const {
        auto const nodes = tuples_[items_[item].tuple];
        State state{{nodes.begin(), nodes.end()}, std::vector<Potential>(observer_ + 1)};
        auto at = saved(item);
        for (auto& potential : state.potentials) {
            auto const count = *at++;
            potential.assign(at, at + count);
            at += count;
        }
        return state;
    }

    Saved view(State const& state) const {
        flat_.clear();
        for (auto const& potential : state.potentials) {
            flat_.push_back(static_cast<std::uint32_t>(potential.size()));
            flat_.insert(flat_.end(), potential.begin(), potential.end());
        }
        return flat_.data();
    }

    bool is_below(Saved a, Saved b) const {
        for (std::uint32_t t = 0; t <= observer_; ++t) {
            auto const many = *a++, count = *b++;
            for (std::uint32_t i = 0; i < many; ++i) {
                auto const list = lists_[a[i]];
                bool const found = std::any_of(
                    b, b + count, [&](auto other) { return is_subsequence(list, lists_[other]); });
                if (!found) return false;
            }
            a += many;
            b += count;
        }
        return true;
    }

    bool is_same(Saved a, Saved b) const {
        for (std::uint32_t t = 0; t <= observer_; ++t) {
            if (!std::equal(a, a + *a + 1, b)) return false;
            auto const count = *a + 1;
            a += count;
            b += count;
        }
        return true;
    }

    // A bit for each option by thread and source: those of a state below are among those of the one above.
    std::uint64_t signature_of(State const& state) const {
        std::uint64_t signature = 0;
        for (std::uint32_t t = 0; t < state.potentials.size(); ++t) {
            for (auto list : state.potentials[t]) {
                for (auto option : lists_[list]) {
                    auto const h = (option.source() * 64u + t) * 0x9e3779b97f4a7c15u;
                    signature |= std::uint64_t{1} << (h >> 58);
                }
            }
        }
        return signature;
    }

    // The next state to go back from: one with the fewest options, of these the youngest.
    std::uint32_t next() {
        for (std::size_t weight = 0; waiting_ > 0; ++weight) {
            while (!queue_[weight].empty()) {
                auto const item = queue_[weight].back();
                queue_[weight].pop_back();
                --waiting_;
                if (items_[item].kept && !was_covered(item)) return item;
            }
        }
        return no_item;
    }

    // Whether a state with more threads anywhere has come since.
    bool was_covered(std::uint32_t item) {
        if (masks_.size() <= 1 || !prunings_.subsumption) return false;
        State const state = load(item);
        if (!is_covered(state, signature_of(state), item)) return false;
        items_[item].kept = 0;
        std::erase_if(buckets_[items_[item].tuple], [&](Entry const& entry) { return entry.item == item; });
        return true;
    }

    std::size_t bytes() const {
        return items_.capacity() * sizeof(Item) + potentials_.capacity() * sizeof(std::uint32_t) +
               items_.size() * sizeof(Entry) + lists_.bytes() + tuples_.bytes() +
               buckets_.capacity() * sizeof(buckets_[0]);
    }

    BasisState decoded(State const& state) const {
        BasisState result;
        result.nodes.assign(state.nodes.begin(), state.nodes.begin() + observer_);
        result.phase = state.nodes[observer_];
        for (auto const& potential : state.potentials) {
            auto& lists = result.potentials.emplace_back();
            for (auto list : potential) {
                auto& options = lists.emplace_back();
                for (auto option : lists_[list])
                    options.emplace_back(sources_[option.source()], option.flag());
            }
        }
        return result;
    }

    ThreadGraphs const& graphs_;
    Sources sources_;
    Prunings prunings_;
    std::uint32_t observer_;  // also the number of the initial writer
    TuplePool tuples_;
    std::map<std::uint64_t, TuplePool> joint_;  // by the threads that stand anywhere; empty if not used
    std::vector<std::vector<Ends>> ends_;       // per thread and node
    std::vector<std::uint64_t> masks_;          // of threads that stand anywhere in some state
    ListPool lists_;
    std::vector<Item> items_;
    std::vector<std::uint32_t> potentials_;
    std::vector<std::vector<Entry>> buckets_;        // per tuple: the minimal states
    std::vector<std::vector<std::uint32_t>> queue_;  // by weight
    std::uint64_t waiting_ = 0;
    std::uint32_t initial_ = no_item;
    BackwardStats stats_;
    std::vector<Option> scratch_;
    std::vector<SourceNumber> lasts_;
    mutable std::vector<std::uint32_t> flat_;
};

Coverability::Coverability(ThreadGraphs const& graphs, std::vector<BadStates> const& bad,
                           Prunings const& prunings)
    : search_(std::make_unique<Search>(graphs, bad, prunings)) {}
Coverability::~Coverability() = default;

Outcome Coverability::run(Limits const& limits, Watcher const& watcher) {
    return search_->run(limits, watcher);
}
BackwardStats Coverability::stats() const {
    return search_->stats();
}
std::vector<RunStep> Coverability::path() const {
    return search_->path();
}
std::vector<std::uint32_t> Coverability::start_nodes() const {
    return search_->start_nodes();
}
std::vector<BasisState> Coverability::basis() const {
    return search_->basis();
}

}  // namespace holdfast
