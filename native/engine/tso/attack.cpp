#include "engine/tso/attack.hpp"

namespace fencepost {

bool Attacks::work() {
    auto const n = open_.back();
    open_.pop_back();
    if (!store_.load(n, current_.data())) return false;
    Word const* const state = current_.data();
    auto const y = AfterRead::cell_of(program_, machine_.monitor_key().get(state));
    std::optional<Failure> ignored;
    for (std::uint32_t t = 0; t < program_.threads.size(); ++t) {
        auto const access = machine_.next_access(state, t);
        if (!access) continue;
        bool const writes = machine_.written(state, *access).has_value();
        if (!machine_.monitor().happens_after(state, t, access->cell, writes)) continue;
        successors_.clear();
        machine_.step(state, t, *access, successors_, ignored);
        for (std::size_t i = 0; i < successors_.size(); ++i) {
            Origin const origin{n, t & 0xff, static_cast<std::uint32_t>(i) & 0xffffff};
            if (machine_.monitor().touched(successors_[i], y)) {
                path_.assign(1, origin);
                while (path_.back().thread != is_start) path_.push_back(store_.origin(path_.back().parent));
                std::reverse(path_.begin(), path_.end());
                return true;
            }
            insert(successors_[i], origin);
        }
    }
    return false;
}

std::vector<Event> Attacks::others(std::span<Word const> state) const {
    std::vector<Event> events;
    std::vector<Word> now(machine_.words());
    StateList next(machine_.words());
    std::optional<Failure> ignored;
    enter(state, start(), now.data());
    for (std::size_t i = 1; i < path_.size(); ++i) {
        auto const t = path_[i].thread;
        auto const access = *machine_.next_access(now.data(), t);
        events.push_back(event_of(machine_, now.data(), t, access));
        next.clear();
        machine_.step(now.data(), t, access, next, ignored);
        std::copy_n(next[path_[i].choice], now.size(), now.data());
    }
    return events;
}

}  // namespace fencepost
