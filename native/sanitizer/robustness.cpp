#include "robustness.hpp"

#include "memory.hpp"
#include "options.hpp"

namespace holdfast {

FenceLocation fence_location;

namespace {

void describe(Thread const& t, History const& h, Awareness a, Violation& v) {
    v.missed = h.at(a.s);
    v.known = h.at(a.c);
    v.learned_by = t.links.raised_by[v.missed.slot];
    v.has_value = false;
    v.could = 0;
    v.certain = true;
    v.stale_count = 0;
}

// Is there a write between c and s that `wanted(value, free)` holds for?
template <class Wanted>
bool check_values(Thread const& t, Cell const& x, Violation& v, Wanted wanted) {
    Awareness a;
    if (!differ(t, x.history, a)) return false;
    std::uint64_t could = 0;
    bool const found = x.history.any_between(a.c, a.s, [&](std::uint64_t value, bool free) {
        could = value;
        return wanted(value, free);
    });
    if (!found) return false;
    describe(t, x.history, a, v);
    v.has_value = true;
    v.could = could;
    return true;
}

bool ready_for_step(Thread& t) {
    return t.slot != no_slot || take_slot(t);
}

void learned(Thread& t) {
    t.changed = true;
    t.epoch.change();
}

// A and, if it acquires, C learn the message. Gives whether C knows it then. Whoever knows the newest write
// from its writer's step knows all that the writer knew then, and so the message, unless that carries on what
// the writer itself did not know.
bool hear_message(Thread& t, Cell const& x, bool acquire, bool unchanged) {
    if (unchanged && (!acquire || x.knows_message)) return x.knows_message;
    if (x.writer_knew_message && x.history.newest_known_from_writer(t.current)) return true;
    if (join(t.acquire, x.message(), x.width)) learned(t);
    if (acquire && join(t.current, x.message(), x.width)) learned(t);
    return acquire;
}

// SC[t] learns from accesses to x: from its newest write, or from any.
void learn_sc(Thread& t, Cell const& x, Time const* clock, bool reads_from, Here here) {
    if (!ahead(clock, t.sc, x.width)) return;
    AccessAt const from = reads_from ? x.last_write.by(x.last_writer) : x.last_access.by(x.seen.thread());
    learn_by(t.links,
             {now_in_ticks(), x.address(), from, {here.place, t.id, here.access, here.order}, reads_from},
             t.sc, clock, x.width);
    learned(t);
}

// A write comes after all earlier accesses under SC, and later ones after it.
void pass_through_sc(Thread& t, Cell& x, Here here, bool unchanged) {
    if (unchanged && x.wrote) {
        x.write_sc()[t.slot] = x.access_sc()[t.slot] = t.time;
    } else {
        learn_sc(t, x, x.write_sc(), reads(here.access), here);
        learn_sc(t, x, x.access_sc(), false, here);
        copy(x.write_sc(), t.sc, x.width);
        copy(x.access_sc(), t.sc, x.width);
    }
    x.last_access = x.last_write = here.packed();
    x.last_writer = t.id;
    x.wrote = true;
    x.seen = t.epoch;
}

}  // namespace

// hb is part of hbsc, so C knows no more than SC, and what it knows stands not behind what SC knows.
bool differ(Thread const& t, History const& h, Awareness& a) {
    if (h.newest_known_from_writer(t.current)) return false;
    a.s = h.known(t.sc, h.last());
    a.c = h.known(t.current, a.s);
    return h.at(a.c).index != h.at(a.s).index;
}

bool check_load(Thread const& t, Cell const& x, Violation& v) {
    Awareness a;
    if (!differ(t, x.history, a)) return false;
    describe(t, x.history, a, v);
    v.has_value = true;
    v.could = v.known.value;
    v.certain = false;
    x.history.any_between(a.c, a.s, [&](std::uint64_t value, bool) {
        v.stale[v.stale_count++] = value;
        return v.stale_count == Violation::most_stale;
    });
    return true;
}

bool check_write(Thread const& t, Cell const& x, Violation& v) {
    Awareness a;
    if (!differ(t, x.history, a) || x.history.at(a.c).plain == x.history.at(a.s).plain) return false;
    describe(t, x.history, a, v);
    return true;
}

bool check_wait(Thread const& t, Cell const& x, std::uint64_t const* values, std::size_t count,
                Violation& v) {
    return check_values(t, x, v, [&](std::uint64_t value, bool) {
        for (std::size_t i = 0; i < count; ++i)
            if (values[i] == value) return true;
        return false;
    });
}

bool check_cas_success(Thread const& t, Cell const& x, std::uint64_t expected, Violation& v) {
    return check_values(t, x, v, [&](std::uint64_t value, bool free) { return value == expected && free; });
}

bool check_cas(Thread const& t, Cell const& x, std::uint64_t expected, Violation& v) {
    if (check_cas_success(t, x, expected, v)) return true;
    if (!check_values(t, x, v, [&](std::uint64_t value, bool) { return value != expected; })) return false;
    v.certain = false;
    return true;
}

void read_part(Thread& t, Cell& x, bool acquire, Here here) {
    if (!ready_for_step(t)) return;
    x.widen();
    bool const unchanged = unchanged_since(t, x);
    x.knows_message = hear_message(t, x, acquire, unchanged);
    if (unchanged) {
        x.access_sc()[t.slot] = t.time;
    } else {
        join(x.access_sc(), t.sc, x.width);
        if (!x.history.newest_known_from_writer(t.sc)) learn_sc(t, x, x.write_sc(), true, here);
        x.wrote = x.message_is_current = x.message_is_release = false;
    }
    x.last_access = here.packed();
    x.seen = t.epoch;
    if (!x.history.knows_newest(t.current)) {
        take_step(t);
        x.history.add_knower(t.slot, t.time);
    }
}

void write_part(Thread& t, Cell& x, std::uint64_t value, bool release, Here here) {
    if (!ready_for_step(t)) return;
    x.widen();
    bool const unchanged = unchanged_since(t, x);
    take_write_step(t, x, value, false, here);
    if (release && unchanged && x.message_is_current)
        x.message()[t.slot] = t.time;
    else if (release || !unchanged || !x.message_is_release)
        copy(x.message(), release ? t.current : t.release, x.width);
    x.knows_message = x.writer_knew_message = true;
    x.message_is_current = release;
    x.message_is_release = !release;
    pass_through_sc(t, x, here, unchanged);
}

void rmw_parts(Thread& t, Cell& x, std::uint64_t value, bool acquire, bool release, Here here) {
    if (!ready_for_step(t)) return;
    x.widen();
    bool const unchanged = unchanged_since(t, x);
    bool const was_current = unchanged && x.message_is_current;
    x.knows_message = hear_message(t, x, acquire, unchanged);
    take_write_step(t, x, value, true, here);
    if (was_current && release)
        x.message()[t.slot] = t.time;
    else
        join(x.message(), release ? t.current : t.release, x.width);
    x.writer_knew_message = x.knows_message;
    x.message_is_current = release && x.knows_message;
    x.message_is_release = false;
    pass_through_sc(t, x, here, unchanged);
}

void acquire_fence(Thread& t) {
    copy(t.current, t.acquire, clock_width);
    t.epoch.change();
}

void release_fence(Thread& t) {
    copy(t.release, t.current, clock_width);
    t.epoch.change();
}

void start_fences() {
    std::size_t const bytes = options.threads_limit * sizeof(Time);
    fence_location.message = static_cast<Time*>(memory::pages(bytes));
    fence_location.sc = static_cast<Time*>(memory::pages(bytes));
}

// After it C, A, R and the fences' message are all A ⊔ W[f], and SC is that of the fences. If neither has
// changed since this thread's last one, they still are.
void sc_fence(Thread& t, std::uintptr_t place) {
    FenceLocation& f = fence_location;
    if (!t.changed && t.fence_version == __atomic_load_n(&f.version, __ATOMIC_ACQUIRE)) return;
    Locked held(f.lock);
    std::uint32_t const width = clock_width;
    join(t.acquire, f.message, width);
    bool told = join(f.message, t.acquire, width);
    copy(t.current, t.acquire, width);
    copy(t.release, t.acquire, width);
    if (ahead(f.sc, t.sc, width)) {
        AccessAt const here{place, t.id, Access::fence, Order::seq_cst};
        learn_by(t.links, {now_in_ticks(), 0, f.last, here, true}, t.sc, f.sc, width);
    }
    if (join(f.sc, t.sc, width)) {
        told = true;
        f.last = {place, t.id, Access::fence, Order::seq_cst};
    }
    if (told) __atomic_store_n(&f.version, f.version + 1, __ATOMIC_RELEASE);
    t.fence_version = f.version;
    t.changed = false;
    t.epoch.change();
}

void acquire_from(Thread& t, Cell& object) {
    if (join(t.acquire, object.message(), object.width)) learned(t);
    if (join(t.current, object.message(), object.width)) learned(t);
    learn_sc(t, object, object.write_sc(), true, {0, 0, Access::synchronisation, Order::acquire});
}

void release_to(Thread& t, Cell& object) {
    object.widen();
    join(object.message(), t.current, object.width);
    join(object.write_sc(), t.sc, object.width);
    object.last_write = {0, Access::synchronisation, Order::release};
    object.last_writer = t.id;
}

}  // namespace holdfast
