#include "engine/safety/backward_search.hpp"
#include "engine/safety/tso_safety.hpp"

namespace fencepost {
namespace {

// The steps of the dual machine backwards (tso_safety.hpp). A potential is what a thread has to read, as one
// list; the observer's is the memory, in a list for each cell that is not open. Who wrote a value does not
// matter, so an option has the first of all sources of its value.
class TsoRules {
  public:
    TsoRules(ThreadGraphs const& graphs, Sources const& sources, OptionLists& lists, Possible& possible,
             Prunings const& prunings)
        : graphs_(graphs), sources_(sources), lists_(lists), possible_(possible), prunings_(prunings) {}

    std::uint64_t impossible() const { return 0; }

    template <class Then>
    void each_bad(BadStates const& bad, PotentialState& state, Then then) {
        Memory memory;
        for (auto const& [cell, value] : bad.memory) {
            if (sources_.of(cell, value).empty() || !agrees(memory, option(cell, value))) return;
        }
        save(state, memory);
        then(state);
    }

    bool is_initial(Option option) const {
        auto const& [writer, cell, value] = sources_[option.source()];
        return value == graphs_.initial[cell];
    }

    bool is_asked_for(PotentialState const& state, std::uint32_t, Label const& label) const {
        auto const source = option(label.cell, label.written).source();
        return std::ranges::any_of(state.potentials, [&](Potential const& potential) {
            return std::ranges::any_of(potential, [&](auto list) {
                return std::ranges::any_of(lists_[list],
                                           [&](Option option) { return option.source() == source; });
            });
        });
    }

    bool is_possible(PotentialState const& state) const {
        for (std::uint32_t t = 0; t < state.threads(); ++t) {
            for (auto list : state.potentials[t]) {
                if (!can_read(t, lists_[list], state.nodes)) return false;
            }
        }
        return std::ranges::all_of(memory_of(state), [&](Option held) {
            return any_source(held, [&](SourceNumber s) {
                return possible_.has_source(Option(s, Flag::U), state.threads(), state.nodes);
            });
        });
    }

    template <class Then>
    void undo(PotentialState& before, std::uint32_t t, Label const& label, Then then) {
        auto const no_writer = sources_.initial_writer();
        if (label.kind == LabelKind::read) {
            read_back(before, t, option(label.cell, label.read));
            return then(before, no_writer);
        }
        auto memory = memory_of(before);
        if (label.cell + 1 == graphs_.initial.size()) {
            if (!drain(before, t, memory)) return;
            save(before, memory);
            return then(before, no_writer);
        }
        auto const written = option(label.cell, label.written);
        if (!agrees(memory, written)) return;
        bool const modifies = label.kind == LabelKind::read_modify_write;
        if (!(modifies ? drain(before, t, memory) : write_back(before, t, written))) return;
        unpropagate(before, t, written, memory, 0, [&](PotentialState& state, Memory held) {
            std::erase_if(held, [&](Option o) { return lists_.is_on(o, label.cell); });
            if (modifies) held.push_back(option(label.cell, label.read));
            save(state, held);
            then(state, no_writer);
        });
    }

  private:
    using Memory = std::vector<Option>;  // at most one option on each cell

    Option option(std::uint32_t cell, Value value) const {
        return {sources_.of(cell, value).front(), Flag::R};
    }

    Memory memory_of(PotentialState const& state) const {
        Memory memory;
        for (auto list : state.potentials[state.threads()])
            memory.emplace_back(lists_[list].front().source(), Flag::R);
        return memory;
    }
    void save(PotentialState& state, Memory const& memory) {
        state.observer().clear();
        for (auto held : memory) state.observer().push_back(lists_.number({Option(held.source(), Flag::U)}));
    }

    // Whether memory can hold this too; then it does.
    bool agrees(Memory& memory, Option wanted) const {
        auto const cell = sources_[wanted.source()].cell;
        auto const at = std::ranges::find_if(memory, [&](Option o) { return lists_.is_on(o, cell); });
        if (at != memory.end()) return at->source() == wanted.source();
        memory.push_back(wanted);
        return true;
    }

    OptionList reads_of(PotentialState const& state, std::uint32_t t) const {
        return state.potentials[t].empty() ? OptionList() : lists_[state.potentials[t].front()];
    }
    void set_reads(PotentialState& state, std::uint32_t t, OptionList reads) {
        state.potentials[t].clear();
        if (!reads.empty()) state.potentials[t].push_back(lists_.number(reads));
    }

    void read_back(PotentialState& state, std::uint32_t t, Option read) {
        auto const reads = reads_of(state, t);
        if (!reads.empty() && reads.front() == read) return;
        std::vector<Option> longer{read};
        longer.insert(longer.end(), reads.begin(), reads.end());
        set_reads(state, t, longer);
    }

    // Empties the buffer of t: memory holds what it has to read.
    bool drain(PotentialState& state, std::uint32_t t, Memory& memory) {
        for (auto read : reads_of(state, t)) {
            if (!agrees(memory, read)) return false;
        }
        set_reads(state, t, {});
        return true;
    }

    bool write_back(PotentialState& state, std::uint32_t t, Option written) {
        auto const cell = sources_[written.source()].cell;
        std::vector<Option> left;
        for (auto read : reads_of(state, t)) {
            if (!lists_.is_on(read, cell)) {
                if (left.empty() || left.back() != read) left.push_back(read);
            } else if (read != written) {
                return false;
            }
        }
        set_reads(state, t, left);
        return true;
    }

    // Lets the write be propagated to each thread but t, from u on, in every way that memory allows.
    template <class Then>
    void unpropagate(PotentialState& state, std::uint32_t t, Option written, Memory const& memory,
                     std::uint32_t u, Then const& then) {
        if (u == state.threads()) return then(state, memory);
        unpropagate(state, t, written, memory, u + 1, then);
        if (u == t) return;
        auto const list = reads_of(state, u);
        std::vector<Option> const reads(list.begin(), list.end());  // `lists_` grows
        auto held = memory;
        for (auto n = reads.size(); n-- > 0 && agrees(held, reads[n]);) {
            if (reads[n] != written) continue;
            set_reads(state, u, OptionList(reads).first(n));
            unpropagate(state, t, written, held, u + 1, then);
        }
        set_reads(state, u, reads);
    }

    template <class Is>
    bool any_source(Option option, Is is) const {
        auto const& [writer, cell, value] = sources_[option.source()];
        return std::ranges::any_of(sources_.of(cell, value), is);
    }

    // Whether there can be writes that t reads so.
    bool can_read(std::uint32_t t, OptionList reads, Nodes nodes) const {
        auto const is_there = [&](SourceNumber s) {
            return possible_.has_source(Option(s, Flag::R), t, nodes);
        };
        for (std::size_t j = 0; j < reads.size(); ++j) {
            if (!any_source(reads[j], is_there)) return false;
            for (std::size_t i = 0; prunings_.pairs && i < j; ++i) {
                bool const fits = any_source(reads[i], [&](SourceNumber a) {
                    return is_there(a) && any_source(reads[j], [&](SourceNumber b) {
                               return is_there(b) &&
                                      possible_.can_follow(Option(a, Flag::R), Option(b, Flag::R), nodes);
                           });
                });
                if (!fits) return false;
            }
        }
        return true;
    }

    ThreadGraphs const& graphs_;
    Sources const& sources_;
    OptionLists& lists_;
    Possible& possible_;
    Prunings prunings_;
};

}  // namespace

class TsoCoverability::Search : public BackwardSearch<TsoRules> {
    using BackwardSearch::BackwardSearch;
};

TsoCoverability::TsoCoverability(ThreadGraphs const& graphs, std::vector<BadStates> const& bad,
                                 Prunings const& prunings)
    : search_(std::make_unique<Search>(graphs, bad, prunings)) {}
TsoCoverability::~TsoCoverability() = default;

Outcome TsoCoverability::run(Limits const& limits, Watcher const& watcher) {
    return go_on(*search_, limits, watcher);
}
BackwardStats TsoCoverability::stats() const {
    return search_->stats();
}
std::vector<RunStep> TsoCoverability::path() const {
    return search_->path();
}
std::vector<std::uint32_t> TsoCoverability::start_nodes() const {
    return search_->start_nodes();
}
std::vector<BasisState> TsoCoverability::basis() const {
    return search_->basis();
}

}  // namespace fencepost
