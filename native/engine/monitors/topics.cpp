#include "engine/monitors/topics.hpp"

#include <algorithm>
#include <numeric>

namespace fencepost {

namespace {

using Bit = std::uint32_t;

// Collects changes; those that depend on the same bit and concern the same word are made together.
class Changes {
  public:
    Changes(Bit zero, Bit one) : zero_(zero), one_(one) {}

    // to = to ∨ from
    void unite(Bit to, Bit from) { add(to, from, true, false); }
    // to = to ∧ from
    void meet(Bit to, Bit from) { add(to, from, false, true); }
    void copy(Bit to, Bit from) { add(to, from, true, true); }
    void set(Bit to) { add(to, one_, true, false); }
    void clear(Bit to) { add(to, zero_, false, true); }

    std::vector<Knowledge::Change> take() { return std::move(changes_); }

  private:
    void add(Bit to, Bit from, bool sets, bool clears) {
        if (to == none) return;
        Word const bit = Word{1} << (to % 64);
        bool const joins = !changes_.empty() && changes_.back().from == from &&
                           changes_.back().word == to / 64 && from != to;
        if (!joins) changes_.push_back({from, to / 64, 0, 0});
        if (sets) changes_.back().set |= bit;
        if (clears) changes_.back().clear |= bit;
    }

    Bit zero_, one_;
    std::vector<Knowledge::Change> changes_;
};

bool is_rmw(Op op) {
    return op == Op::fetch_add || op == Op::exchange || op == Op::compare_exchange ||
           op == Op::blocking_compare_exchange;
}

}  // namespace

Knowledge::Knowledge(Program const& program, bool with_modes)
    : program_(program), use_(program), threads_(static_cast<std::uint32_t>(program.threads.size())) {
    add_topics(with_modes);
    number_bits(with_modes);
    for (auto const& e : program.exchanges) add_exchange(e);
}

// Where no RMW writes the location, a stale value is free as long as it is plain, and one topic serves both.
void Knowledge::add_topics(bool with_modes) {
    for (std::uint32_t x = 0; x < program_.cells.size(); ++x) {
        auto const& cell = program_.cells[x];
        bool rmw = false;
        for (auto const& thread : program_.threads) {
            for (auto const& i : thread.code)
                rmw = rmw || (is_rmw(i.op) && x >= i.first_cell && x < i.first_cell + i.cells);
        }
        bool const same = !rmw && cell.plain.tracked == cell.free.tracked;
        for (std::uint32_t c = 0; c < cell.plain.size(); ++c) {
            bool const both = same && c < cell.free.size();
            topics_.push_back({Topic::Kind::stale_value, x, c, both ? c : none, none});
        }
        for (std::uint32_t c = 0; c < cell.free.size(); ++c) {
            if (same && c < cell.plain.size()) continue;
            topics_.push_back({Topic::Kind::stale_value, x, none, c, none});
        }
        if (!with_modes || cell.atomic) continue;
        topics_.push_back({Topic::Kind::last_write, x, none, none, none});
        for (std::uint32_t t = 0; t < threads_; ++t)
            topics_.push_back({Topic::Kind::last_read, x, none, none, t});
    }
}

void Knowledge::number_bits(bool with_modes) {
    auto const cells = program_.cells.size();
    Bit next = 0;
    auto const add = [&next](std::vector<Bit>& bits) {
        bits.push_back(next);
        return next++;
    };
    for (std::uint32_t t = 0; t < threads_; ++t) add(stale_bits_);
    for (std::uint32_t t = 0; t < threads_; ++t) add(aware_bits_);
    msc_.assign(cells, none);
    wsc_.assign(cells, none);
    message_.assign(cells, none);
    for (std::size_t x = 0; x < cells; ++x) {
        if (use_.written[x]) msc_[x] = add(aware_bits_);
        if (!use_.written[x] || !use_.read[x]) continue;
        wsc_[x] = add(aware_bits_);
        message_[x] = add(stale_bits_);
    }
    acquire_.assign(threads_, none);
    release_.assign(threads_, none);
    Bit initial = none;
    for (std::uint32_t t = 0; with_modes && t < threads_; ++t) {
        FenceUse const fences(program_.threads[t]);
        if (fences.acquires) acquire_[t] = add(stale_bits_);
        if (!fences.releases && initial == none) initial = add(stale_bits_);
        release_[t] = fences.releases ? add(stale_bits_) : initial;
    }
    words_ = (next + 2 + 63) / 64;
    one_ = static_cast<Bit>(words_ * 64 - 1);
    zero_ = one_ - 1;
}

void Knowledge::add_exchange(Exchange const& e) {
    Exchanged exchanged;
    auto const swap = [&](Bit a, Bit b) {
        auto const whole = [](Bit bit) { return Field{~Word{0}, bit / 64, 0}; };
        if (a != none && a < b) exchanged.bits.add(whole(a), Word{1} << a % 64, whole(b), Word{1} << b % 64);
    };
    swap(e.first, e.second);
    swap(threads_ + e.first, threads_ + e.second);
    swap(acquire_[e.first], acquire_[e.second]);
    swap(acquire_[e.second], acquire_[e.first]);
    swap(release_[e.first], release_[e.second]);
    swap(release_[e.second], release_[e.first]);
    for (std::uint32_t x = 0; x < msc_.size(); ++x) {
        for (auto const* bits : {&msc_, &wsc_, &message_}) swap((*bits)[x], (*bits)[e.cell(x)]);
    }
    for (auto const& topic : topics_) {
        Topic image = topic;
        image.cell = e.cell(topic.cell);
        auto const class_of = [&](ValueClasses const& from, ValueClasses const& into, std::uint32_t c) {
            return c != none && c < from.tracked.size()
                       ? into.of_critical(e.value(topic.cell, from.tracked[c]))
                       : c;
        };
        auto const &cell = program_.cells[topic.cell], &other = program_.cells[image.cell];
        image.plain = class_of(cell.plain, other.plain, topic.plain);
        image.free = class_of(cell.free, other.free, topic.free);
        if (topic.reader != none) image.reader = e.thread(topic.reader);
        auto const at = std::find(topics_.begin(), topics_.end(), image);
        if (at == topics_.end()) throw std::invalid_argument("an exchange takes a topic to none");
        exchanged.topics.push_back(static_cast<std::uint32_t>(at - topics_.begin()));
    }
    exchanges_.push_back(std::move(exchanged));
}

std::vector<std::vector<std::uint32_t>> Knowledge::groups() const {
    std::vector<std::uint32_t> group(topics_.size());
    std::iota(group.begin(), group.end(), 0u);
    for (bool changed = true; changed;) {
        changed = false;
        for (auto const& e : exchanges_) {
            for (std::uint32_t k = 0; k < group.size(); ++k) {
                auto const least = std::min(group[k], group[e.topics[k]]);
                changed = changed || group[k] != least || group[e.topics[k]] != least;
                group[k] = group[e.topics[k]] = least;
            }
        }
    }
    std::vector<std::vector<std::uint32_t>> groups;
    for (std::uint32_t first = 0; first < group.size(); ++first) {
        if (group[first] != first) continue;
        auto& members = groups.emplace_back();
        for (std::uint32_t k = first; k < group.size(); ++k) {
            if (group[k] == first) members.push_back(k);
        }
    }
    return groups;
}

bool Knowledge::wakes(Told const& told, std::uint32_t topic) const {
    auto const& about = topics_[topic];
    if (told.cell != about.cell) return false;
    switch (about.kind) {
        case Topic::Kind::last_write:
            return told.kind == Told::Kind::non_atomic_write;
        case Topic::Kind::last_read:
            return told.kind == Told::Kind::non_atomic_read && told.thread == about.reader;
        default:
            return (told.kind == Told::Kind::write || told.kind == Told::Kind::read_modify_write) &&
                   ((about.plain != none && about.plain == told.plain) ||
                    (about.free != none && about.free == told.free));
    }
}

Knowledge::Effect Knowledge::effect(std::vector<Told> const& label, std::uint32_t topic_number) const {
    Changes changes(zero_, one_);
    std::vector<std::uint32_t> exchanges;
    std::uint32_t topic = topic_number;
    auto const acquire_fence = [&](std::uint32_t t) {
        if (acquire_[t] != none) changes.copy(t, acquire_[t]);
    };
    auto const release_fence = [&](std::uint32_t t) {
        if (release_[t] != none) changes.copy(release_[t], t);
    };
    // Both views of t that learn from its own accesses.
    auto const know = [&](std::uint32_t t) {
        changes.clear(t);
        changes.clear(acquire_[t]);
    };
    auto const everybody_misses = [&] {
        for (auto bit : stale_bits_) changes.set(bit);
    };
    auto const read_part = [&](Told const& told, bool about) {
        auto const t = told.thread;
        if (message_[told.cell] != none) {
            if (acquire_[t] != none) changes.meet(acquire_[t], message_[told.cell]);
            if (told.acquire) changes.meet(t, message_[told.cell]);
        }
        if (about) know(t);
    };
    auto const write_part = [&](Told const& told, bool about, bool rmw) {
        auto const t = told.thread, x = told.cell;
        if (wakes(told, topic)) everybody_misses();
        if (about) know(t);
        if (message_[x] == none) return;
        auto const from = told.release ? t : release_[t];
        if (rmw) {
            changes.meet(message_[x], from);
        } else {
            changes.copy(message_[x], from);
        }
        if (about) changes.clear(message_[x]);
    };
    auto const hbsc_read = [&](std::uint32_t t, std::uint32_t x) {
        if (msc_[x] == none) return;
        changes.unite(msc_[x], threads_ + t);
        changes.unite(threads_ + t, wsc_[x]);
    };
    auto const hbsc_write = [&](std::uint32_t t, std::uint32_t x, bool about) {
        if (about) {
            for (auto bit : aware_bits_) changes.clear(bit);
            changes.set(threads_ + t);
        } else {
            changes.unite(threads_ + t, msc_[x]);
        }
        changes.copy(msc_[x], threads_ + t);
        changes.copy(wsc_[x], threads_ + t);
    };
    auto const modify = [&](Told const& told, bool about, bool watches) {
        if (watches) hbsc_write(told.thread, told.cell, about);
        read_part(told, about);
        write_part(told, about, true);
    };
    for (auto const& told : label) {
        auto const t = told.thread;
        auto const& now = topics_[topic];
        bool const watches = now.kind == Topic::Kind::stale_value;
        bool const about = watches && told.cell == now.cell;
        switch (told.kind) {
            case Told::Kind::read:
                if (watches) hbsc_read(t, told.cell);
                read_part(told, about);
                break;
            case Told::Kind::write:
                if (watches) hbsc_write(t, told.cell, about);
                write_part(told, about, false);
                break;
            case Told::Kind::read_modify_write:
                modify(told, about, watches);
                break;
            case Told::Kind::sc_fence:
                acquire_fence(t);
                modify(told, about, watches);
                release_fence(t);
                break;
            case Told::Kind::fence:
                if (told.fences == Told::Fences::release || told.fences == Told::Fences::release_acquire)
                    release_fence(t);
                if (told.fences != Told::Fences::release) acquire_fence(t);
                if (told.fences == Told::Fences::acquire_release) release_fence(t);
                break;
            case Told::Kind::non_atomic_read:
            case Told::Kind::non_atomic_write:
                if (wakes(told, topic)) {
                    everybody_misses();
                    know(t);
                    for (auto bit : aware_bits_) changes.set(bit);
                } else if (told.kind == Told::Kind::non_atomic_write && told.cell == now.cell) {
                    for (auto bit : stale_bits_) changes.clear(bit);  // reads before are history
                }
                break;
            case Told::Kind::exchange:
                exchanges.push_back(told.thread);
                topic = exchanges_[told.thread].topics[topic];
                break;
        }
    }
    return {changes.take(), std::move(exchanges), topic};
}

bool Knowledge::may_ask(Topic const& topic, Instruction const& i) const {
    if (!i.is_access() || topic.cell < i.first_cell || topic.cell >= i.first_cell + i.cells) return false;
    if (topic.kind != Topic::Kind::stale_value)
        return i.non_atomic && (topic.kind == Topic::Kind::last_write || i.op == Op::store);
    auto const& cell = program_.cells[topic.cell];
    auto const may_be_plain = [&](std::uint32_t e) {
        auto const& expression = program_.expressions[e];
        return expression.shape != Expression::Shape::constant ||
               cell.plain.of_critical(program_.reduce(static_cast<Wide>(expression.constant))) == topic.plain;
    };
    switch (i.op) {
        case Op::load:
            return topic.plain != none;
        case Op::wait:
            return topic.plain != none && std::any_of(i.many.begin(), i.many.end(), may_be_plain);
        case Op::compare_exchange:
            return true;
        default:
            return topic.free != none;
    }
}

}  // namespace fencepost
