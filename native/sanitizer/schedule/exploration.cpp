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

void copy(Past& to, Past const& from) {
    to.clear();
    for (std::uint32_t const one : from) to.add(one);
}

template <class Branch>
void release(Branch* branch) {
    while (branch != nullptr) {
        release(branch->first);
        Branch* const next = branch->next;
        memory::release(branch, sizeof(Branch));
        branch = next;
    }
}

}  // namespace

Exploration::~Exploration() {
    drop_nodes(0);
}

Exploration::Node& Exploration::add_node() {
    Node* const node = new (memory::allocate(sizeof(Node))) Node{};
    nodes_.add(node);
    return *node;
}

void Exploration::drop_nodes(std::size_t from) {
    for (std::size_t i = from; i < nodes_.size(); ++i) {
        release(nodes_[i]->branches);
        nodes_[i]->~Node();
        memory::release(nodes_[i], sizeof(Node));
    }
    if (from < nodes_.size()) nodes_.cut(from);
}

bool Exploration::happens_before(std::size_t first, std::size_t later) const {
    return knows(nodes_[later]->past, nodes_[first]->event.thread, first);
}

void Exploration::find_past(std::size_t place) {
    Node& node = *nodes_[place];
    node.forced.clear();
    bool own = false;
    std::uint64_t joined = node.event.joined;
    for (std::size_t i = place; i-- > 0 && !(own && joined == 0);) {
        Event const& earlier = nodes_[i]->event;
        bool const is_own = !own && earlier.thread == node.event.thread;
        std::uint64_t const bit = earlier.thread < most_joined ? std::uint64_t{1} << earlier.thread : 0;
        if (!is_own && (joined & bit) == 0) continue;
        join(node.forced, nodes_[i]->past);
        own |= is_own;
        joined &= ~bit;
    }
    if (node.event.after != no_event)
        join(node.forced, nodes_[static_cast<std::size_t>(node.event.after)]->past);
    copy(node.past, node.forced);
    for (std::size_t i = place; i-- > 0;) {
        Node const& other = *nodes_[i];
        if (other.event.pending || knows(node.past, other.event.thread, i)) continue;
        if (!dependent(other.event, node.event, fences_)) continue;
        join(node.past, other.past);
    }
    note(node.past, node.event.thread, place);
}

// The event has happened here: what sleeps, and what came before.
void Exploration::enter(std::size_t place, Event const& event) {
    Node& node = place < nodes_.size() ? *nodes_[place] : add_node();
    node.event = event;
    if (place > changed_) {
        Node const& before = *nodes_[place - 1];
        node.sleeping.clear();
        for (Event const& one : before.sleeping)
            if (!dependent(one, before.event, fences_)) node.sleeping.add(one);
    }
    find_past(place);
}

void Exploration::take_over(Event const* events, std::size_t count) {
    for (std::size_t i = changed_; i < count; ++i) enter(i, events[i]);
    drop_nodes(count);
}

void Exploration::completed(Event const* events, std::size_t count) {
    take_over(events, count);
    for (std::size_t i = 0; i < count; ++i) find_races(i);
    for (std::size_t i = 0; i < count; ++i) add_alternatives(i);
    while (count > 0 && nodes_[count - 1]->event.pending) --count;
    drop_nodes(count);
}

void Exploration::abandoned(Event const* events, std::size_t count) {
    take_over(events, std::min(count, plan_.size()));
}

void Exploration::restart() {
    drop_nodes(0);
    plan_.clear();
    changed_ = 0;
}

// Could the later event happen before the first, and what would it meet there?
Exploration::Movable Exploration::can_move(std::size_t first, std::size_t later, Event& moved) const {
    moved = nodes_[later]->event;
    moved.pending = false;
    for (std::size_t i = first; i < later; ++i) {
        Event const& e = nodes_[i]->event;
        if (i != first && !happens_before(first, i)) continue;
        if (e.pending || !writes(e) || !touches(e, moved.object, moved.size)) continue;
        if (e.object != moved.object || e.size != moved.size) {
            moved.before = moved.expected;  // perhaps; so it counts as a write
            return moved.until == Until::always ? Movable::yes : Movable::perhaps;
        }
        moved.before = e.before;
        break;
    }
    if (moved.until == Until::unknown) return Movable::perhaps;
    return can_happen(moved, moved.before) ? Movable::yes : Movable::no;
}

// A race that is reversed shows those that happen before it; one that perhaps cannot be does not.
void Exploration::find_races(std::size_t later) {
    Node const& node = *nodes_[later];
    if (!is_visible(node.event) || node.event.act == Act::choose) return;
    Row<std::size_t> found;
    for (std::size_t i = later; i-- > 0;) {
        Event const& first = nodes_[i]->event;
        if (first.pending || first.thread == node.event.thread || knows(node.forced, first.thread, i))
            continue;
        if (!dependent(first, node.event, fences_)) continue;
        if (std::any_of(found.begin(), found.end(), [&](std::size_t k) { return happens_before(i, k); }))
            continue;
        Event moved;
        Movable const movable = can_move(i, later, moved);
        if (movable == Movable::no) continue;
        if (movable == Movable::yes) found.add(i);
        reverse(i, moved, later);
    }
}

void Exploration::reverse(std::size_t first, Event const& moved, std::size_t later) {
    Row<Move> sequence;
    for (std::size_t i = first + 1; i < nodes_.size(); ++i) {
        Event const& e = nodes_[i]->event;
        if (!e.pending && !happens_before(first, i)) sequence.add({e, i, false});
    }
    sequence.add({moved, later, true});
    add_branch(first, sequence);
}

void Exploration::add_alternatives(std::size_t choice) {
    Event const made = nodes_[choice]->event;
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
void Exploration::add_branch(std::size_t place, Row<Move>& sequence) {
    Node& node = *nodes_[place];
    for (Event const& one : node.sleeping)
        if (can_come_first(one, sequence)) return;
    insert(&node.branches, sequence);
}

bool Exploration::precedes(Move const& a, Move const& b) const {
    if (!b.moved) return happens_before(a.node, b.node);
    return knows(nodes_[b.node]->forced, a.event.thread, a.node) || dependent(a.event, b.event, fences_);
}

// A weak initial: the sequence is the same as one that begins with the event, or would be if it had it.
bool Exploration::can_come_first(Event const& event, Row<Move> const& sequence) const {
    for (Move const& move : sequence) {
        if (move.event.thread != event.thread) continue;
        if (!same_step(move.event, event)) return false;
        for (Move const* earlier = sequence.begin(); earlier != &move; ++earlier)
            if (precedes(*earlier, move)) return false;
        return true;
    }
    return std::none_of(sequence.begin(), sequence.end(),
                        [&](Move const& move) { return dependent(event, move.event, fences_); });
}

namespace {

// The choices that followed the event at this place follow it where it is now.
template <class Moves>
void bring_choices_forward(Moves& sequence, std::size_t place) {
    std::size_t end = place;
    while (end < sequence.size() && sequence[end].event.act == Act::choose) ++end;
    std::rotate(sequence.begin(), sequence.begin() + place, sequence.begin() + end);
}

}  // namespace

void Exploration::insert(Branch** branches, Row<Move>& sequence) {
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

// Takes the branch at the last node, and at each further one the first.
void Exploration::follow(Branch* branch) {
    while (branch != nullptr) {
        nodes_[nodes_.size() - 1]->event = branch->event;
        Branch* const further = branch->first;
        memory::release(branch, sizeof(Branch));
        if (further != nullptr) add_node().branches = further->next;
        branch = further;
    }
}

bool Exploration::advance() {
    while (!nodes_.empty()) {
        Node& node = *nodes_[nodes_.size() - 1];
        if (Branch* const branch = node.branches; branch != nullptr) {
            node.sleeping.add(node.event);
            ++node.done;
            node.branches = branch->next;
            changed_ = nodes_.size() - 1;
            follow(branch);
            plan_.clear();
            for (Node const* one : nodes_) plan_.add(one->event);
            return true;
        }
        drop_nodes(nodes_.size() - 1);
    }
    return false;
}

double Exploration::share() const {
    double done = 0, part = 1;
    for (Node const* node : nodes_) {
        std::uint32_t left = 1;
        for (Branch const* branch = node->branches; branch != nullptr; branch = branch->next) ++left;
        part /= node->done + left;
        done += part * node->done;
    }
    return done;
}

}  // namespace fencepost::scheduler
