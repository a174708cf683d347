#include "sanitizer/schedule/saved_exploration.hpp"

#include <cstdint>

namespace fencepost::scheduler {
namespace {

template <class T>
void put_row(Text& out, Row<T> const& row) {
    put_bytes(out, std::uint64_t{row.size()});
    for (T const& item : row) put_bytes(out, item);
}

template <class T>
bool take_row(std::string_view& from, Row<T>& row) {
    std::uint64_t count = 0;
    if (!take_bytes(from, count) || count > from.size() / sizeof(T)) return false;
    for (T item; count > 0; --count) {
        if (!take_bytes(from, item)) return false;
        row.add(item);
    }
    return true;
}

}  // namespace

void ExplorationFile::write_branches(Text& out, Walk::Branch const* branch) {
    for (; branch != nullptr; branch = branch->next) {
        put_bytes(out, true);
        put_bytes(out, branch->event);
        write_branches(out, branch->first);
    }
    put_bytes(out, false);
}

bool ExplorationFile::read_branches(std::string_view& from, Walk::Branch*& first) {
    Walk::Branch** last = &first;
    for (std::uint8_t another = 0;;) {
        if (!take_bytes(from, another) || another > 1) return false;
        if (another == 0) return true;
        *last = static_cast<Walk::Branch*>(memory::allocate(sizeof(Walk::Branch)));
        **last = {};
        if (!take_bytes(from, (*last)->event) || !read_branches(from, (*last)->first)) return false;
        last = &(*last)->next;
    }
}

void ExplorationFile::write_state(Text& out, Walk::State const& state) {
    put_bytes(out, state.event);
    put_bytes(out, std::uint64_t{state.place});
    put_bytes(out, state.taken);
    put_row(out, state.sleeping);
    put_row(out, state.past);
    put_row(out, state.forced);
    write_branches(out, state.branches);
}

bool ExplorationFile::read_state(std::string_view& from, Walk::State& state) {
    std::uint64_t place = 0;
    bool const good = take_bytes(from, state.event) && take_bytes(from, place) &&
                      take_bytes(from, state.taken) && take_row(from, state.sleeping) &&
                      take_row(from, state.past) && take_row(from, state.forced) &&
                      read_branches(from, state.branches);
    state.place = place;
    return good;
}

// A state on the ways of several walks is written with the first of them.
void ExplorationFile::write(Text& out, Exploration const& exploration) {
    put_bytes(out, exploration.begun_);
    for (std::uint32_t number = 0; number < exploration.walks_.size(); ++number) {
        Walk const& walk = *exploration.walks_[number];
        put_bytes(out, static_cast<std::uint32_t>(walk.is_outdated() ? 0 : walk.states_.size()));
        for (std::size_t i = 0; i < walk.states_.size() && !walk.is_outdated(); ++i) {
            std::uint32_t owner = 0;
            auto const has_it = [&](Walk const& other) {
                return !other.is_outdated() && i < other.states_.size() &&
                       other.states_[i] == walk.states_[i];
            };
            while (!has_it(*exploration.walks_[owner])) ++owner;
            put_bytes(out, owner);
            if (owner == number) write_state(out, *walk.states_[i]);
        }
    }
}

bool ExplorationFile::read(std::string_view& from, Exploration& exploration) {
    std::uint8_t begun = 0;
    if (!take_bytes(from, begun) || begun > 1) return false;
    exploration.begun_ = begun != 0;
    for (std::uint32_t number = 0; number < exploration.walks_.size(); ++number) {
        Walk& walk = *exploration.walks_[number];
        std::uint32_t count = 0;
        if (!take_bytes(from, count)) return false;
        for (std::uint32_t i = 0, owner = 0; i < count; ++i) {
            if (!take_bytes(from, owner) || owner > number) return false;
            if (owner < number) {
                if (i >= exploration.walks_[owner]->states_.size()) return false;
                Walk::State* const shared = exploration.walks_[owner]->states_[i];
                walk.states_.add(shared);
                ++shared->walks;
                continue;
            }
            Walk::State& state = walk.add_state();
            if (!read_state(from, state)) return false;
            if (i != 0) walk.states_[i - 1]->open.add(&state);
        }
    }
    return true;
}

}  // namespace fencepost::scheduler
