#include "engine/any_number/view_search.hpp"

#include <algorithm>
#include <utility>

#include "engine/any_number/attack_bits.hpp"

namespace fencepost {

namespace {

std::uint64_t pair_of(std::uint32_t first, std::uint32_t second) {
    return static_cast<std::uint64_t>(first) << 32 | second;
}

}  // namespace

std::uint32_t Interner::find(Word const* record, std::uint64_t hash) {
    return table_.find(hash, [&](std::uint32_t n) { return same_words(records_[n], record, words_); });
}

std::uint32_t Interner::number(Word const* record) {
    table_.reserve_one();
    auto const hash = hash_words(record, words_);
    if (auto const known = find(record, hash); known != no_state) return known;
    auto const number = static_cast<std::uint32_t>(size());
    copy_words(records_.append(), record, words_);
    table_.add(hash, number);
    return number;
}

// A view is a record of its global state and its local states, two numbers to a word.
template <class Bits>
ViewSearch<Bits>::ViewSearch(Program const& program, Bits bits, AnyNumberQuestion const& question,
                             std::size_t most_bytes)
    : program_(program),
      bits_(std::move(bits)),
      machine_(bits_.machine()),
      question_(question),
      key_words_(machine_.key_words()),
      words_(bits_.words()),
      memory_(most_bytes),
      globals_(words_, memory_),
      locals_(words_ + 1, memory_),
      views_((question.k + 2) / 2, memory_),
      joint_(words_),
      state_(machine_.words()),
      record_(std::max(words_ + 1, std::size_t{question.k + 2} / 2)),
      successors_(machine_.words()) {
    make_masks();
}

template <class Bits>
void ViewSearch<Bits>::make_masks() {
    std::vector<bool> is_fixed(program_.threads.size(), true);
    std::vector<Word> retired(machine_.words(), 0);
    shared_.assign(words_, ~Word{0});
    for (auto const& thread : question_.templates) {
        masks_.emplace_back(words_, 0);
        for (auto const t : {thread.actor, thread.bystander}) {
            is_fixed[t] = false;
            std::vector<Word> own(words_, 0);
            auto const of_machine = machine_.own_bits(t);
            for (auto const& mask : of_machine.masks()) own[mask.word] |= mask.bits;
            bits_.mark_own(t, own.data());
            for (std::size_t i = 0; i < words_; ++i) shared_[i] &= ~own[i];
            if (t == thread.actor) masks_.back() = own;
            machine_.retire(retired.data(), t);
        }
    }
    absent_.assign(words_, 0);
    for (std::size_t i = 0; i < key_words_; ++i) absent_[i] = retired[i] & ~shared_[i];
    for (std::uint32_t t = 0; t < program_.threads.size(); ++t) {
        if (is_fixed[t]) fixed_.push_back(t);
    }
}

// At the start every topic is dormant, and then its bits mean nothing.
template <class Bits>
void ViewSearch<Bits>::start() {
    std::optional<Failure> failure;
    StateList starts(machine_.words());
    machine_.start(starts, failure);
    fails_ = failure.has_value();
    Locals locals;
    std::vector<GlobalNumber> globals;
    std::vector<Word> joint(words_);
    for (std::size_t n = 0; n < starts.size(); ++n) {
        std::fill(joint.begin(), joint.end(), 0);
        copy_words(joint.data(), starts[n], key_words_);
        globals.push_back(global_of(joint.data()));
        for (std::uint32_t kind = 0; kind < masks_.size(); ++kind)
            locals.push_back(local_of(joint.data(), kind));
    }
    std::ranges::sort(locals);
    locals.erase(std::unique(locals.begin(), locals.end()), locals.end());
    std::ranges::sort(globals);
    globals.erase(std::unique(globals.begin(), globals.end()), globals.end());
    Locals view;
    for (auto const g : globals) add_start_views(g, locals, view);
}

template <class Bits>
void ViewSearch<Bits>::add_start_views(GlobalNumber global, Locals const& starts, Locals& view) {
    if (view.size() == question_.k) return add_view(global, view);
    for (auto const l : starts) {
        if (!view.empty() && l < view.back()) continue;
        view.push_back(l);
        add_start_views(global, starts, view);
        view.pop_back();
    }
}

template <class Bits>
GlobalNumber ViewSearch<Bits>::global_of(Word const* joint) {
    for (std::size_t i = 0; i < words_; ++i) record_[i] = joint[i] & shared_[i];
    auto const g = globals_.number(record_.data());
    if (g < at_.size()) return g;
    auto& here = at_.emplace_back();
    compose(g, none);
    violates_ = violates_ || bits_.violates(joint_.data());
    for (auto const t : fixed_) {
        check(t);
        if (auto const access = non_atomic(state_.data(), t)) here.accesses.push_back(*access);
        here.exclusive += is_exclusive(state_.data(), t);
    }
    return g;
}

// Of a thread that has ended, monitors know nothing that matters.
template <class Bits>
LocalNumber ViewSearch<Bits>::local_of(Word const* joint, std::uint32_t kind) {
    auto const actor = question_.templates[kind].actor;
    bool const has_ended = machine_.point(joint, actor) >= program_.threads[actor].ended();
    for (std::size_t i = 0; i < words_; ++i) {
        record_[i] = joint[i] & masks_[kind][i];
        if (has_ended && i >= key_words_) record_[i] = 0;
    }
    record_[words_] = kind;
    auto const l = locals_.number(record_.data());
    if (l == accesses_.size()) {
        accesses_.push_back(non_atomic(record_.data(), actor));
        exclusive_.push_back(is_exclusive(record_.data(), actor));
    }
    return l;
}

// The state in which `l`, if it is one, is the only thread of a template: in `joint_`, and in `state_` as the
// machine has it.
template <class Bits>
void ViewSearch<Bits>::compose(GlobalNumber g, LocalNumber l) {
    for (std::size_t i = 0; i < words_; ++i) {
        joint_[i] = globals_[g][i] | absent_[i];
        if (l != none) joint_[i] = (joint_[i] & ~masks_[kind_of(l)][i]) | locals_[l][i];
    }
    bits_.to_machine(joint_.data(), state_.data());
}

template <class Bits>
Word const* ViewSearch<Bits>::record(GlobalNumber g, Locals const& locals) {
    std::fill_n(record_.begin(), (question_.k + 2) / 2, 0);
    record_[0] = g;
    for (std::size_t i = 0; i < locals.size(); ++i)
        record_[(i + 1) / 2] |= static_cast<Word>(locals[i]) << (i % 2 == 0 ? 32 : 0);
    return record_.data();
}

template <class Bits>
void ViewSearch<Bits>::add_view(GlobalNumber g, Locals const& locals) {
    auto const before = views_.size();
    views_.number(record(g, locals));
    if (views_.size() == before) return;
    for (auto const l : locals) meet(g, l);
}

template <class Bits>
void ViewSearch<Bits>::meet(GlobalNumber g, LocalNumber l) {
    if (!met_.insert(pair_of(g, l)).second) return;
    at_[g].locals.push_back(l);
    compose(g, l);
    check(question_.templates[kind_of(l)].actor);
}

template <class Bits>
GlobalNumber ViewSearch<Bits>::view(std::size_t n, Locals& locals) const {
    auto const* const view = views_[static_cast<std::uint32_t>(n)];
    locals.resize(question_.k);
    for (std::size_t i = 0; i < locals.size(); ++i)
        locals[i] = static_cast<LocalNumber>(view[(i + 1) / 2] >> (i % 2 == 0 ? 32 : 0));
    return static_cast<GlobalNumber>(view[0]);
}

template <class Bits>
bool ViewSearch<Bits>::advance() {
    if (next_ == views_.size() || violates_) return false;
    auto const last = static_cast<StateNumber>(next_++);
    Locals locals;
    auto const g = view(last, locals);
    auto const candidates = at_[g].locals;
    for (auto const l : candidates) {
        Locals more = locals;
        more.insert(std::ranges::upper_bound(more, l), l);
        if (are_views(g, more, last)) expand(g, more);
    }
    return true;
}

// Whether any k of these k + 1 are in a view that was found not later than `last`. This holds for one of
// their views only: the one found last.
template <class Bits>
bool ViewSearch<Bits>::are_views(GlobalNumber g, Locals const& more, StateNumber last) {
    Locals fewer(more.begin() + 1, more.end());
    for (std::size_t i = 0;; ++i) {
        if (auto const found = views_.find(record(g, fewer)); found == no_state || found > last) return false;
        if (i == question_.k) return true;
        fewer[i] = more[i];
    }
}

template <class Bits>
void ViewSearch<Bits>::expand(GlobalNumber g, Locals const& more) {
    ++steps_made_;
    if (!bits_.exist() && !machine_.monitor().has_modes) find_conflicts(g, more);
    if (!question_.exclusive.empty()) find_excluded(g, more);
    Locals others;
    for (std::size_t i = 0; i < more.size(); ++i) {
        if (i > 0 && more[i] == more[i - 1]) continue;
        others = more;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
        for (auto const& step : steps_of(g, more[i])) reach(step, others);
    }
    for (auto const& step : fixed_steps(g)) reach(step, more);
}

template <class Bits>
void ViewSearch<Bits>::reach(Step const& step, Locals const& others) {
    Locals reached;
    for (auto const l : others) reached.push_back(after(step.label, l));
    if (step.own != none) reached.push_back(step.own);
    std::ranges::sort(reached);
    Locals fewer(reached.begin() + 1, reached.end());
    for (std::size_t i = 0;; ++i) {
        if (i == 0 || reached[i] != reached[i - 1]) add_view(step.global, fewer);
        if (i == question_.k) return;
        fewer[i] = reached[i];
    }
}

template <class Bits>
auto ViewSearch<Bits>::steps_of(GlobalNumber g, LocalNumber l) -> std::vector<Step> const& {
    auto const [at, is_new] = steps_.try_emplace(pair_of(g, l));
    if (is_new) {
        std::vector<Step> steps;
        compose(g, l);
        make_steps(question_.templates[kind_of(l)].actor, kind_of(l), steps);
        at->second = std::move(steps);
    }
    return at->second;
}

template <class Bits>
auto ViewSearch<Bits>::fixed_steps(GlobalNumber g) -> std::vector<Step> const& {
    if (!at_[g].steps) {
        std::vector<Step> steps;
        for (auto const t : fixed_) {
            compose(g, none);
            make_steps(t, std::nullopt, steps);
        }
        at_[g].steps = std::move(steps);
    }
    return *at_[g].steps;
}

// In the state composed last.
template <class Bits>
void ViewSearch<Bits>::make_steps(std::uint32_t thread, std::optional<std::uint32_t> kind,
                                  std::vector<Step>& steps) {
    auto const access = machine_.next_access(state_.data(), thread);
    if (!access || !bits_.allow(state_.data(), thread, *access)) return;
    std::optional<Failure> failure;
    successors_.clear();
    machine_.step(state_.data(), thread, *access, successors_, failure);
    fails_ = fails_ || failure.has_value();
    std::vector<Word> const before = joint_;
    for (std::size_t n = 0; n < successors_.size(); ++n) {
        auto next = before;
        auto const label = bits_.step(successors_[n], next.data());
        auto const global = global_of(next.data());
        steps.push_back({global, kind ? local_of(next.data(), *kind) : none, label});
    }
}

template <class Bits>
LocalNumber ViewSearch<Bits>::after(LabelNumber label, LocalNumber other) {
    if constexpr (Bits::changes_others) {
        if (label == none) return other;
        auto const [at, is_new] = after_.try_emplace(pair_of(label, other), other);
        if (is_new) {
            auto const kind = kind_of(other);
            auto const& effect = bits_.on_others(label, question_.templates[kind]);
            std::vector<Word> joint(locals_[other], locals_[other] + words_);
            for (std::size_t i = key_words_; i < words_; ++i)
                joint[i] = (joint[i] | effect.set[i]) & ~effect.clear[i];
            at->second = local_of(joint.data(), kind);
        }
        return at->second;
    }
    return other;
}

// In the state composed last.
template <class Bits>
void ViewSearch<Bits>::check(std::uint32_t thread) {
    violates_ = violates_ || bits_.violates(joint_.data(), state_.data(), thread);
}

template <class Bits>
auto ViewSearch<Bits>::non_atomic(Word const* state, std::uint32_t thread) const -> std::optional<NonAtomic> {
    auto const access = machine_.next_access(state, thread);
    if (!access || !access->instruction->non_atomic) return std::nullopt;
    return NonAtomic{access->cell, access->instruction->op == Op::store};
}

template <class Bits>
void ViewSearch<Bits>::find_conflicts(GlobalNumber g, Locals const& more) {
    auto accesses = at_[g].accesses;
    for (auto const l : more) {
        if (accesses_[l]) accesses.push_back(*accesses_[l]);
    }
    for (std::size_t i = 0; i < accesses.size(); ++i) {
        for (std::size_t j = i + 1; j < accesses.size(); ++j) {
            conflicts_ = conflicts_ || (accesses[i].cell == accesses[j].cell &&
                                        conflict(accesses[i].writes, accesses[j].writes));
        }
    }
}

template <class Bits>
void ViewSearch<Bits>::find_excluded(GlobalNumber g, Locals const& more) {
    auto const there = std::ranges::count_if(more, [this](auto l) { return exclusive_[l]; });
    excluded_ = excluded_ || at_[g].exclusive + there > 1;
}

template <class Bits>
bool ViewSearch<Bits>::is_exclusive(Word const* state, std::uint32_t thread) const {
    if (question_.exclusive.empty()) return false;
    auto const& of_thread = program_.threads[thread];
    auto const access = machine_.next_access(state, thread);
    if (!access && machine_.point(state, thread) != of_thread.ended()) return false;
    auto const pc = access ? access->pc : static_cast<std::uint32_t>(of_thread.code.size());
    return std::ranges::any_of(question_.exclusive,
                               [&](Place const& place) { return place.thread == thread && place.pc == pc; });
}

template class ViewSearch<TopicBits>;
template class ViewSearch<AttackBits>;

}  // namespace fencepost
