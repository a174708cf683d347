#include "engine/monitors/topics.hpp"

#include <algorithm>
#include <numeric>

namespace fencepost {

namespace {

using Bit = std::uint32_t;

bool is_rmw(Op op) {
    return is_fetch(op) || op == Op::exchange || op == Op::compare_exchange ||
           op == Op::blocking_compare_exchange;
}

}  // namespace

// What the rules act on: the bits of one topic. It collects changes; those that depend on the same bit and
// concern the same word are made together, and bits whose value is known by now are not asked for.
class TopicRules::Target {
  public:
    Target(TopicRules const& rules, Topic const& topic)
        : rules_(rules), topic_(topic), known_(rules.words_ * 64) {
        known_[rules.zero_] = false;
        known_[rules.one_] = true;
    }

    bool has_woken() const { return woken_; }
    std::vector<Change> take() { return std::move(changes_); }

    void unite(AwareSet to, AwareSet from) {
        if (is_kept(to) && is_kept(from) && is_about_values()) add(aware(to), aware(from), true, false);
    }
    void copy(AwareSet to, AwareSet from) {
        if (is_kept(to) && is_kept(from) && is_about_values()) add(aware(to), aware(from), true, true);
    }
    void insert(AwareSet set, std::uint32_t x) {
        if (is_kept(set) && is_about_values() && x == topic_.cell) make(aware(set), true);
    }
    void remove_everywhere(std::uint32_t x) {
        if (is_about_values() && x == topic_.cell) make_all(rules_.aware_bits_, false);
    }

    void meet(View view, View other) {
        if (has_bit(view) && has_bit(other)) add(stale(view), stale(other), false, true);
    }
    void copy(View to, View from) {
        if (has_bit(to) && has_bit(from)) add(stale(to), stale(from), true, true);
    }
    void forget(View view, std::uint32_t x) {
        if (has_bit(view) && x == topic_.cell) make(stale(view), false);
    }
    void make_stale(std::uint32_t x, StaleValue old) {
        bool const is_it = (topic_.plain != none && topic_.plain == old.plain) ||
                           (topic_.free != none && topic_.free == old.free);
        if (x == topic_.cell && is_it) wake();
    }
    void miss_read(std::uint32_t d, std::uint32_t t) {
        if (is_last_read(d, t)) wake();
    }
    void know_read(View view, std::uint32_t d, std::uint32_t t) {
        if (is_kept(view) && is_last_read(d, t)) make(stale(view), false);
    }
    void miss_write(std::uint32_t d) {
        if (d != topic_.cell) return;
        if (topic_.kind == Topic::Kind::last_write) {
            wake();
        } else {
            make_all(rules_.stale_bits_, false);
        }
    }

  private:
    Bit aware(AwareSet set) const { return rules_.aware_bits_[static_cast<std::size_t>(set)]; }
    Bit stale(View view) const { return rules_.stale_bits_[static_cast<std::size_t>(view)]; }
    bool is_about_values() const { return topic_.kind == Topic::Kind::stale_value; }
    bool has_bit(View view) const {
        return is_kept(view) &&
               (is_about_values() || static_cast<std::uint32_t>(view) < rules_.parts_.hb_views());
    }
    bool is_last_read(std::uint32_t d, std::uint32_t t) const {
        return topic_.kind == Topic::Kind::last_read && topic_.cell == d && topic_.reader == t;
    }

    // Every view misses what the topic is about. Races do not ask who is aware.
    void wake() {
        woken_ = true;
        for (std::uint32_t view = 0; view < rules_.parts_.views(); ++view) {
            if (has_bit(View{view})) make(stale(View{view}), true);
        }
        if (!is_about_values()) make_all(rules_.aware_bits_, true);
    }
    void make_all(std::vector<Bit> const& bits, bool value) {
        for (auto bit : bits) make(bit, value);
    }
    void make(Bit to, bool value) { add(to, value ? rules_.one_ : rules_.zero_, value, !value); }

    // `to` becomes 1 if it `sets` and `from` is 1, and 0 if it `clears` and `from` is 0.
    void add(Bit to, Bit from, bool sets, bool clears) {
        if (known_[from]) {
            sets = sets && *known_[from];
            clears = clears && !*known_[from];
            from = *known_[from] ? rules_.one_ : rules_.zero_;
        }
        bool const changes = known_[to] ? (*known_[to] ? clears : sets) : sets || clears;
        if (!changes || to == from) return;
        known_[to] = known_[from];
        Word const bit = Word{1} << (to % 64);
        bool const joins =
            !changes_.empty() && changes_.back().from == from && changes_.back().word == to / 64;
        if (!joins) changes_.push_back({from, to / 64, 0, 0});
        if (sets) changes_.back().set |= bit;
        if (clears) changes_.back().clear |= bit;
    }

    TopicRules const& rules_;
    Topic const& topic_;
    bool woken_ = false;
    std::vector<std::optional<bool>> known_;  // per bit: its value, whatever it was before
    std::vector<Change> changes_;
};

TopicRules::TopicRules(Program const& program, Model model)
    : program_(program), model_(model), parts_(program, parts_of(model)) {
    add_topics(parts_of(model).modes);
    number_bits();
    for (auto const& e : program.renamings()) add_renaming(e);
    if (program.translation() == nullptr) return;
    find_ages();
    find_writers();
    if (!parts_of(model).modes) find_teacher();
}

// All values of the pivot have topics of their own, numbered by them. Stale ones are below its base.
std::optional<Value> TopicRules::age(Topic const& topic) const {
    auto const* const r = program_.translation();
    if (r == nullptr || topic.kind != Topic::Kind::stale_value || topic.cell != r->pivot) return std::nullopt;
    return (r->lift->base + r->modulus - (topic.plain != none ? topic.plain : topic.free)) % r->modulus;
}

void TopicRules::find_ages() {
    aged_.resize(topics_.size());
    std::iota(aged_.begin(), aged_.end(), 0u);
    for (std::uint32_t k = 0; k < topics_.size(); ++k) {
        auto const my_age = age(topics_[k]);
        if (!my_age || *my_age <= Rotation::Lift::oldest_asked) continue;
        auto const too_old = std::ranges::find_if(topics_, [&](Topic const& other) {
            return age(other) == Rotation::Lift::oldest_asked + 1 &&
                   (other.plain == none) == (topics_[k].plain == none);
        });
        aged_[k] = static_cast<std::uint32_t>(too_old - topics_.begin());
    }
}

void TopicRules::find_writers() {
    sole_writer_.assign(program_.cells.size(), none);
    std::vector<bool> several(program_.cells.size());
    for (std::uint32_t t = 0; t < program_.threads.size(); ++t) {
        for (auto const& i : program_.threads[t].code) {
            if (i.op == Op::load || i.op == Op::wait || i.op < Op::load) continue;
            auto const last = i.is_fence() ? program_.cells.size() : i.first_cell + i.cells;
            for (std::size_t x = i.is_fence() ? program_.fence_cell() : i.first_cell; x < last; ++x) {
                several[x] = several[x] || (sole_writer_[x] != none && sole_writer_[x] != t);
                sole_writer_[x] = t;
            }
        }
    }
    for (std::size_t x = 0; x < several.size(); ++x) {
        if (several[x]) sole_writer_[x] = none;
    }
}

// In RA, where each write releases and each read acquires.
void TopicRules::find_teacher() {
    std::vector<bool> is_read(program_.cells.size()), is_updated(program_.cells.size());
    for (std::uint32_t t = 0; t < program_.threads.size(); ++t) {
        for (auto const& i : program_.threads[t].code) {
            if (i.op < Op::load || i.is_fence()) continue;
            for (auto x = i.first_cell; x < i.first_cell + i.cells; ++x) {
                is_read[x] = is_read[x] || (i.op == Op::load && t != sole_writer_[x]);
                is_updated[x] = is_updated[x] || is_rmw(i.op) || i.non_atomic || i.cells > 1;
            }
        }
    }
    auto const renamings = program_.renamings();
    // Else what was taught would have other names after a step.
    auto const keeps_its_name = [&](std::uint32_t x) {
        return std::ranges::all_of(renamings, [&](Renaming const& renaming) {
            return renaming.cell(x) == x && renaming.thread(sole_writer_[x]) == sole_writer_[x];
        });
    };
    for (std::uint32_t x = 0; x < program_.fence_cell(); ++x) {
        if (sole_writer_[x] == none || !is_read[x] || is_updated[x] || !is_kept(parts_.W(x))) continue;
        if (!keeps_its_name(x)) continue;
        teacher_ = x;
        auto const bit = [this](View view) { return stale_bits_[static_cast<std::size_t>(view)]; };
        teacher_bits_ = {bit(parts_.W(x)), bit(parts_.C(sole_writer_[x]))};
        return;
    }
}

std::vector<std::uint32_t> TopicRules::bits_for_readers(std::uint32_t x) const {
    std::vector<Bit> bits;
    if (is_kept(parts_.WSC(x))) bits.push_back(aware_bits_[static_cast<std::size_t>(parts_.WSC(x))]);
    if (is_kept(parts_.W(x))) bits.push_back(stale_bits_[static_cast<std::size_t>(parts_.W(x))]);
    return bits;
}

std::uint32_t TopicRules::teacher_bit(std::uint32_t topic) const {
    return teacher_ == none || topics_[topic].cell == teacher_ ? none : teacher_bits_[0];
}

// MSC[x] is for those who write x. If there is one such thread and it is aware, it learns nothing there until
// the location of the topic is written, and then the bit is cleared with all others.
void TopicRules::raise(Target& target) const {
    for (std::uint32_t x = 0; x < sole_writer_.size(); ++x) {
        if (sole_writer_[x] != none) target.unite(parts_.MSC(x), parts_.VSC(sole_writer_[x]));
    }
}

// Where no RMW writes the location, a stale value is free as long as it is plain, and one topic serves both.
void TopicRules::add_topics(bool has_modes) {
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
        if (!has_modes || cell.atomic) continue;
        topics_.push_back({Topic::Kind::last_write, x, none, none, none});
        for (std::uint32_t t = 0; t < parts_.threads(); ++t)
            topics_.push_back({Topic::Kind::last_read, x, none, none, t});
    }
}

void TopicRules::number_bits() {
    aware_bits_.resize(parts_.sets(), none);
    stale_bits_.resize(parts_.views(), none);
    Bit next = 0;
    auto const number = [&next](std::vector<Bit>& bits, auto set_or_view) {
        if (is_kept(set_or_view)) bits[static_cast<std::size_t>(set_or_view)] = next++;
    };
    for (std::uint32_t t = 0; t < parts_.threads(); ++t) number(stale_bits_, parts_.C(t));
    for (std::uint32_t t = 0; t < parts_.threads(); ++t) number(aware_bits_, parts_.VSC(t));
    for (std::uint32_t x = 0; x < parts_.cells(); ++x) {
        number(aware_bits_, parts_.MSC(x));
        number(aware_bits_, parts_.WSC(x));
        number(stale_bits_, parts_.W(x));
    }
    // What is left are A, R and the views of the order S, in their order.
    for (auto view = parts_.threads(); view < parts_.views(); ++view) {
        if (stale_bits_[view] == none) number(stale_bits_, View{view});
    }
    words_ = (next + 2 + 63) / 64;
    one_ = static_cast<Bit>(words_ * 64 - 1);
    zero_ = one_ - 1;
}

// A view that several threads share, since they all know nothing by it, belongs to none of them.
std::vector<std::uint32_t> TopicRules::bits_of_thread(std::uint32_t t) const {
    std::vector<Bit> bits{aware_bits_[static_cast<std::size_t>(parts_.VSC(t))]};
    for (auto const* travelling : {&parts_.hb(), &parts_.P(), &parts_.F(), &parts_.E()}) {
        for (auto const* views : {&travelling->current, &travelling->pending, &travelling->released}) {
            auto const view = (*views)[t];
            if (is_kept(view) && std::ranges::count(*views, view) == 1)
                bits.push_back(stale_bits_[static_cast<std::size_t>(view)]);
        }
    }
    return bits;
}

void TopicRules::add_renaming(Renaming const& e) {
    Exchanged exchanged;
    auto const swap = [&](std::vector<Bit> const& bits, auto const& to) {
        auto const whole = [](Bit bit) { return Field{~Word{0}, bit / 64, 0}; };
        for (std::size_t n = 0; n < bits.size(); ++n) {
            auto const a = bits[n], b = bits[static_cast<std::size_t>(to[n])];
            if (a != none) exchanged.bits.add(whole(a), Word{1} << a % 64, whole(b), Word{1} << b % 64);
        }
    };
    swap(aware_bits_, parts_.renamed_sets(e));
    swap(stale_bits_, parts_.renamed_views(e));
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
    exchanged.bits.finish();
    exchanges_.push_back(std::move(exchanged));
}

std::vector<std::vector<std::uint32_t>> TopicRules::groups() const {
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

bool TopicRules::wakes(MonitorEvent const& event, std::uint32_t topic) const {
    Target target(*this, topics_[topic]);
    apply(target, event);
    return target.has_woken();
}

TopicRules::Effect TopicRules::effect(std::vector<MonitorEvent> const& label, std::uint32_t topic) const {
    Target target(*this, topics_[topic]);
    std::vector<std::uint32_t> exchanges;
    for (auto const& event : label) {
        if (event.kind != MonitorEvent::Kind::exchange) {
            apply(target, event);
            continue;
        }
        // Exchanges come last in a label.
        exchanges.push_back(event.thread);
        topic = exchanges_[event.thread].topics[topic];
    }
    if (!label.empty()) raise(target);
    return {target.take(), std::move(exchanges), aged_.empty() ? topic : aged_[topic]};
}

void TopicRules::apply(Target& target, MonitorEvent const& event) const {
    with_rules(model_, [&]<class Rules>(Rules) { Rules::apply(parts_, target, event); });
}

bool TopicRules::bounds(Topic const& topic, std::uint32_t t, Instruction const& i, Word const* bits) const {
    bool const sc =
        i.op == Op::compare_exchange ? (topic.plain != none ? i.sc_alone : i.sc) : i.sc || i.sc_alone;
    if (topic.kind != Topic::Kind::stale_value || !sc || !is_kept(parts_.P().current[t])) return false;
    auto const bit = stale_bits_[static_cast<std::size_t>(parts_.P().current[t])];
    return (bits[bit / 64] >> bit % 64 & 1) == 0;
}

bool TopicRules::asks(Topic const& topic, Instruction const& i, Operand expected,
                      std::vector<Operand> const& awaited) const {
    if (topic.kind != Topic::Kind::stale_value)
        return i.non_atomic && conflict(topic.kind == Topic::Kind::last_write, i.op == Op::store);
    struct {
        Topic const& topic;
        Cell const& cell;
        bool is_stale;  // an operand like it stands for older values too
        bool asks = false;

        void any_plain() { asks = asks || topic.plain != none; }
        void any_free() { asks = asks || topic.free != none; }
        void plain(Operand v) {
            asks = asks || (topic.plain != none && (!v || cell.plain.of_critical(*v) == topic.plain));
        }
        void free(Operand v) {
            asks = asks || (topic.free != none && (!v || cell.free.of_critical(*v) == topic.free));
        }
        void plain_but(Operand v) {
            bool const may_differ = !v || is_stale || cell.plain.of_critical(*v) != topic.plain;
            asks = asks || (topic.plain != none && may_differ);
        }
    } conditions{topic, program_.cells[topic.cell], false};
    if (auto const my_age = age(topic)) {
        auto const& lift = *program_.translation()->lift;
        if (*my_age > Rotation::Lift::oldest_asked) return false;
        conditions.is_stale = lift.base - *my_age <= lift.stale;
    }
    violation_conditions(i.op, expected, awaited, conditions);
    return conditions.asks;
}

bool TopicRules::may_ask(Topic const& topic, Instruction const& i) const {
    if (!i.is_access() || topic.cell < i.first_cell || topic.cell >= i.first_cell + i.cells) return false;
    std::vector<Operand> awaited;
    for (auto e : i.many) {
        auto const& expression = program_.expressions[e];
        bool const is_known = expression.shape == Expression::Shape::constant;
        awaited.push_back(is_known ? Operand(program_.reduce(static_cast<Wide>(expression.constant)))
                                   : std::nullopt);
    }
    return asks(topic, i, std::nullopt, awaited);
}

}  // namespace fencepost
