#include "sanitizer/schedule/exploration.hpp"

#include <algorithm>
#include <new>

namespace fencepost::scheduler {
namespace {

using Past = Row<std::uint32_t>;

bool knows(Past const& past, std::uint32_t thread, std::size_t place) {
    return thread < past.size() && past[thread] > place;
}

void note(Past& past, std::uint32_t thread, std::size_t place) {
    while (past.size() <= thread) past.add(0);
    past[thread] = std::max(past[thread], static_cast<std::uint32_t>(place + 1));
}

void join(Past& past, Past const& other) {
    for (std::uint32_t thread = 0; thread < other.size(); ++thread) {
        if (other[thread] != 0) note(past, thread, other[thread] - 1);
    }
}

// As bits.
std::uint32_t bytes_of(Event const& e) {
    return static_cast<std::uint32_t>((std::uint64_t{1} << std::max<unsigned>(e.size, 1)) - 1);
}

bool is_word_access(Event const& e) {
    return e.size <= sizeof e.before && e.act != Act::use && e.act != Act::end;
}

// Where these bytes of an access are also bytes of an earlier one, it meets what that one has met. Gives
// them.
std::uint32_t meet(Event& access, Event const& earlier, std::uint32_t bytes) {
    std::uint32_t found = 0;
    for (unsigned i = 0; i < access.size; ++i) {
        std::uintptr_t const there = access.object + i - earlier.object;  // beyond its end if before it
        if ((bytes >> i & 1) == 0 || there >= earlier.size) continue;
        access.before &= ~(std::uint64_t{0xff} << 8 * i);
        access.before |= (earlier.before >> 8 * there & 0xff) << 8 * i;
        found |= std::uint32_t{1} << i;
    }
    return found;
}

void copy(Past& to, Past const& from) {
    to.clear();
    for (std::uint32_t const one : from) to.add(one);
}

}  // namespace

void Exploration::restart() {
    ++number_;
    begun_ = false;
}

bool Exploration::is_running() const {
    return std::any_of(walks_.begin(), walks_.end(), [](Walk const* walk) { return walk->runs_; });
}

bool Exploration::is_complete() const {
    return begun_ && std::none_of(walks_.begin(), walks_.end(), [&](Walk const* walk) {
               return walk->runs_ ||
                      (!walk->is_outdated() &&
                       std::any_of(walk->states_.begin(), walk->states_.end(),
                                   [](Walk::State const* state) { return state->branches != nullptr; }));
           });
}

double Exploration::share() const {
    double least = 1;
    for (Walk const* const walk : walks_)
        if (walk->runs_) least = std::min(least, walk->share());
    return least;
}

Walk::Walk(Exploration& exploration) : exploration_(exploration) {
    exploration.walks_.add(this);
    number_ = exploration.number_;
}

Walk::~Walk() {
    drop_states(0);
}

void Walk::release(Branch* branch) {
    while (branch != nullptr) {
        release(branch->first);
        Branch* const next = branch->next;
        memory::release(branch, sizeof(Branch));
        branch = next;
    }
}

Walk::State& Walk::add_state() {
    State* const state = new (memory::allocate(sizeof(State))) State{};
    state->walks = 1;
    states_.add(state);
    return *state;
}

void Walk::close(State& at, State const* child) {
    for (std::size_t i = at.open.size(); i-- > 0;)
        if (at.open[i] == child) at.open.remove(i);
}

void Walk::drop_states(std::size_t from) {
    for (std::size_t i = states_.size(); i-- > from;) {
        State* const state = states_[i];
        if (--state->walks != 0) continue;
        if (i != 0) close(*states_[i - 1], state);
        release(state->branches);
        state->~State();
        memory::release(state, sizeof(State));
    }
    states_.cut(std::min(states_.size(), from));
}

bool Walk::happens_before(std::size_t first, std::size_t later) const {
    return knows(past(later), event(first).thread, first);
}

void Walk::find_past(std::size_t number) {
    State& state = *states_[number + 1];
    state.forced.clear();
    bool own = false;
    std::uint64_t joined = state.event.joined;
    for (std::size_t i = number; i-- > 0 && !(own && joined == 0);) {
        Event const& earlier = event(i);
        bool const is_own = !own && earlier.thread == state.event.thread;
        std::uint64_t const bit = earlier.thread < most_joined ? std::uint64_t{1} << earlier.thread : 0;
        if (!is_own && (joined & bit) == 0) continue;
        join(state.forced, past(i));
        own |= is_own;
        joined &= ~bit;
    }
    if (state.event.after != no_event) join(state.forced, past(static_cast<std::size_t>(state.event.after)));
    copy(state.past, state.forced);
    for (std::size_t i = number; i-- > 0;) {
        Event const& other = event(i);
        if (other.pending || knows(state.past, other.thread, i)) continue;
        if (!dependent(other, state.event, exploration_.fences_)) continue;
        join(state.past, past(i));
    }
    note(state.past, state.event.thread, number);
}

// The event has happened: what sleeps after it, and what came before. It has been taken, so it sleeps where
// it came from.
void Walk::enter(std::size_t number, Event const& event) {
    State& before = *states_[number];
    bool const is_branch = number == changed_ && !plan_.empty();
    if (states_.size() == number + 1) add_state();
    State& state = *states_[number + 1];
    state.event = event;
    state.sleeping.clear();
    for (Event const& one : is_branch ? sleeping_ : before.sleeping)
        if (!dependent(one, event, exploration_.fences_)) state.sleeping.add(one);
    if (is_branch) {
        before.sleeping[state.place] = event;
    } else if (!event.pending) {
        state.place = before.sleeping.size();
        before.sleeping.add(event);
        before.open.add(&state);
        ++before.taken;
    }
    find_past(number);
}

void Walk::take_over(Event const* events, std::size_t count) {
    for (std::size_t i = changed_; i < count; ++i) enter(i, events[i]);
    drop_states(count + 1);
    runs_ = false;
}

void Walk::completed(Event const* events, std::size_t count) {
    if (is_outdated()) return start_anew();
    take_over(events, count);
    for (std::size_t i = 0; i < count; ++i) find_races(i);
    for (std::size_t i = 0; i < count; ++i) add_alternatives(i);
    while (count > 0 && event(count - 1).pending) --count;
    drop_states(count + 1);
}

void Walk::abandoned(Event const* events, std::size_t count) {
    if (is_outdated()) return start_anew();
    take_over(events, std::min(count, plan_.size()));
}

void Walk::start_anew() {
    drop_states(0);
    number_ = exploration_.number_;
    runs_ = false;
}

// Could the later event happen before the first, and what would it meet there? That is what the first writes
// from there on have met, of accesses of different sizes each for its bytes.
Walk::Movable Walk::can_move(std::size_t first, std::size_t later, Event& moved) const {
    moved = event(later);
    moved.pending = false;
    std::uint32_t unmet = bytes_of(moved);
    for (std::size_t i = first; i < later && unmet != 0; ++i) {
        Event const& e = event(i);
        if (i != first && !happens_before(first, i)) continue;
        if (e.pending || !writes(e) || !touches(e, moved.object, moved.size)) continue;
        if (same_memory(e, moved) && unmet == bytes_of(moved)) {
            moved.before = e.before;
            break;
        }
        if (!is_word_access(e) || !is_word_access(moved)) {
            moved.before = moved.expected;  // perhaps; so it counts as a write
            return moved.until == Until::always ? Movable::yes : Movable::perhaps;
        }
        unmet &= ~meet(moved, e, unmet);
    }
    if (moved.until == Until::unknown) return Movable::perhaps;
    return can_happen(moved, moved.before) ? Movable::yes : Movable::no;
}

// A race that is reversed shows those that happen before it; one that perhaps cannot be does not.
void Walk::find_races(std::size_t later) {
    Event const& second = event(later);
    if (!is_visible(second) || second.act == Act::choose) return;
    Row<std::size_t> found;
    for (std::size_t i = later; i-- > 0;) {
        Event const& first = event(i);
        if (first.pending || first.thread == second.thread || knows(forced(later), first.thread, i)) continue;
        if (!dependent(first, second, exploration_.fences_)) continue;
        if (std::any_of(found.begin(), found.end(), [&](std::size_t k) { return happens_before(i, k); }))
            continue;
        Event moved;
        Movable const movable = can_move(i, later, moved);
        if (movable == Movable::no) continue;
        if (movable == Movable::yes) found.add(i);
        reverse(i, moved, later);
    }
}

void Walk::reverse(std::size_t first, Event const& moved, std::size_t later) {
    Row<Move> sequence;
    for (std::size_t i = first + 1; i < length(); ++i) {
        Event const& e = event(i);
        if (!e.pending && !happens_before(first, i)) sequence.add({e, i, false});
    }
    sequence.add({moved, later, true});
    add_branch(first, sequence);
}

void Walk::add_alternatives(std::size_t choice) {
    Event const made = event(choice);
    if (made.act != Act::choose) return;
    for (std::uint32_t way = 0; way < made.alternatives; ++way) {
        if (way == made.chosen) continue;
        Row<Move> sequence;
        sequence.add({made, choice, false});
        sequence[0].event.chosen = way;
        add_branch(choice, sequence);
    }
}

// Unless its executions are among those that have been run, or will be.
void Walk::add_branch(std::size_t number, Row<Move>& sequence) {
    State& state = *states_[number];
    std::size_t const own = states_[number + 1]->place;
    for (std::size_t i = 0; i < state.sleeping.size(); ++i)
        if (i != own && can_come_first(state.sleeping[i], sequence)) return;
    insert(&state.branches, sequence);
}

bool Walk::precedes(Move const& a, Move const& b) const {
    if (!b.moved) return happens_before(a.number, b.number);
    return knows(forced(b.number), a.event.thread, a.number) ||
           dependent(a.event, b.event, exploration_.fences_);
}

// A weak initial: the sequence is the same as one that begins with the event, or would be if it had it.
bool Walk::can_come_first(Event const& one, Row<Move> const& sequence) const {
    for (Move const& move : sequence) {
        if (move.event.thread != one.thread) continue;
        if (!same_step(move.event, one)) return false;
        for (Move const* earlier = sequence.begin(); earlier != &move; ++earlier)
            if (precedes(*earlier, move)) return false;
        return true;
    }
    return std::none_of(sequence.begin(), sequence.end(),
                        [&](Move const& move) { return dependent(one, move.event, exploration_.fences_); });
}

// The choices that followed the event which was at this place now follow it, or what else they need.
void Walk::bring_choices_forward(Row<Move>& sequence, std::size_t place) const {
    for (; place < sequence.size() && sequence[place].event.act == Act::choose; ++place) {
        std::size_t to = place;
        while (to > 0 && !precedes(sequence[to - 1], sequence[place])) --to;
        while (to < place && sequence[to].event.act == Act::choose) ++to;
        std::rotate(sequence.begin() + to, sequence.begin() + place, sequence.begin() + place + 1);
    }
}

void Walk::insert(Branch** branches, Row<Move>& sequence) {
    while (*branches != nullptr) {
        Branch* const branch = *branches;
        if (!can_come_first(branch->event, sequence)) {
            branches = &branch->next;
            continue;
        }
        for (std::size_t i = 0; i < sequence.size(); ++i) {
            if (sequence[i].event.thread != branch->event.thread) continue;
            sequence.remove(i);
            bring_choices_forward(sequence, i);
            break;
        }
        if (branch->first == nullptr || sequence.empty()) return;  // what it leads to is as good
        branches = &branch->first;
    }
    for (Move const& move : sequence) {
        *branches = static_cast<Branch*>(memory::allocate(sizeof(Branch)));
        **branches = {move.event, nullptr, nullptr};
        branches = &(*branches)->first;
    }
}

// May its first branch be taken now? Its branches are in order: a later one may cover an earlier one.
bool Walk::may_take_branch(State const& state) const {
    return state.branches != nullptr &&
           std::all_of(state.open.begin(), state.open.end(), [&](State const* other) {
               return dependent(other->event, state.branches->event, exploration_.fences_);
           });
}

// Takes the first branch at the last state, and at each further one the first. False if it may not.
bool Walk::take_branch() {
    State& state = *states_[states_.size() - 1];
    if (!may_take_branch(state)) return false;
    Branch* branch = state.branches;
    state.branches = branch->next;
    sleeping_.clear();
    for (Event const& one : state.sleeping) sleeping_.add(one);
    changed_ = length();
    std::size_t const place = state.sleeping.size();
    state.sleeping.add(branch->event);
    ++state.taken;
    while (branch != nullptr) {
        State& next = add_state();
        next.event = branch->event;
        if (states_.size() == changed_ + 2) {
            next.place = place;
            state.open.add(&next);
        }
        Branch* const further = branch->first;
        memory::release(branch, sizeof(Branch));
        if (further != nullptr) next.branches = further->next;
        branch = further;
    }
    plan_.clear();
    for (std::size_t i = 0; i < length(); ++i) plan_.add(event(i));
    runs_ = true;
    return true;
}

bool Walk::go_to_another_walk() {
    Walk const* best = nullptr;
    std::size_t nearest = SIZE_MAX;
    for (Walk const* const walk : exploration_.walks_) {
        if (walk->is_outdated()) continue;
        std::size_t const known = walk->runs_ ? walk->changed_ + 1 : walk->states_.size();
        for (std::size_t i = 0; i < std::min({known, walk->states_.size(), nearest}); ++i) {
            if (!may_take_branch(*walk->states_[i])) continue;
            best = walk;
            nearest = i;
        }
    }
    if (best == nullptr) return false;
    for (std::size_t i = 0; i <= nearest; ++i) {
        states_.add(best->states_[i]);
        ++best->states_[i]->walks;
    }
    return take_branch();
}

void Walk::begin_first() {
    exploration_.begun_ = true;
    add_state();
    plan_.clear();
    sleeping_.clear();
    changed_ = 0;
    runs_ = true;
}

bool Walk::advance() {
    if (is_outdated()) start_anew();
    while (!states_.empty()) {
        if (take_branch()) return true;
        drop_states(states_.size() - 1);
    }
    if (exploration_.begun_) return go_to_another_walk();
    begin_first();
    return true;
}

double Walk::share() const {
    double done = 0, part = 1;
    for (State const* state : states_) {
        std::uint32_t const taken = std::max(state->taken, 1U);
        std::uint32_t left = 0;
        for (Branch const* branch = state->branches; branch != nullptr; branch = branch->next) ++left;
        part /= taken + left;
        done += part * (taken - 1);
    }
    return done;
}

}  // namespace fencepost::scheduler
