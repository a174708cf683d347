#include "sanitizer/core/robustness.hpp"

#include "sanitizer/core/stacks.hpp"

namespace fencepost {
namespace {

void describe(Thread const& t, History const& h, Awareness a, Order order, Violation& v) {
    while (a.s >= 0 && h.at(a.s).again()) --a.s;
    v.missed = h.at(a.s);
    v.known = h.at(a.c);
    v.links = t.provenance->made;
    v.order = order;
    v.has_value = false;
    v.could = 0;
    v.certain = true;
    v.stale_count = 0;
}

// Is there a write between c and s that `wanted(value, free)` holds for?
template <class Wanted>
bool check_values(Thread const& t, Cell const& x, Order order, Violation& v, Wanted wanted) {
    Awareness a;
    if (!differ(t, x, order, a)) return false;
    std::uint64_t could = 0;
    bool const found = x.any_between(a.c, a.s, [&](std::uint64_t value, bool free) {
        could = value;
        return wanted(value, free);
    });
    if (!found) return false;
    describe(t, x, a, order, v);
    v.has_value = true;
    v.could = could;
    return true;
}

bool ready_for_step(Thread& t) {
    return t.slot != no_slot || take_slot(t);
}

void learned(Thread& t) {
    t.changed = t.has_learned = true;
}

// Whether there was anything to learn but of the thread's own slot.
bool join_news(ScClock into, ScClock from, Slot own_slot) {
    join_slot(into, from, own_slot);
    return join(into, from);
}

// P, F or E: both what is so now and what is pending, which is never less.
void raise(Thread& t, ThreadClock which, ScClock by) {
    ScClocks& clocks = *t.sc_clocks;
    join_slot(clocks[which + 1], by, t.slot);
    if (!join_news(clocks[which], by, t.slot)) return;
    join(clocks[which + 1], by);
    learned(t);
    if (which != eco_before) ++t.sc_version;
}

// Its last marked step.
void set_marked(Thread& t) {
    for (ThreadClock const clock : {strongly_before, strongly_before_pending})
        (*t.sc_clocks)[clock].accesses[t.slot] = t.time;
}

// Does one half of it hold more than C, and E if there is one?
bool is_ahead(Time const* half, Time const* current, Time const* eco, std::uint32_t width) {
    detail::Vector newer{};
    for (std::uint32_t i = 0; i < width; i += detail::vector_lanes)
        newer |= detail::load(half + i) > detail::later(detail::load(current + i), detail::load(eco + i));
    return detail::any(newer);
}

// Do E and C not know some of it?
bool is_news(ScClock in, Thread const& t) {
    if (t.sc_clocks == nullptr || t.sc_clocks->width() < in.width)
        return ahead(in.accesses, t.current, in.width) || ahead(in.writes(), t.current, in.width);
    ScClock const eco = (*t.sc_clocks)[eco_before];
    return is_ahead(in.accesses, t.current, eco.accesses, in.width) ||
           is_ahead(in.writes(), t.current, eco.writes(), in.width);
}

// What the stamp's thread had as P, F and E, now or as pending.
void learn_sc_clocks(Thread& t, Stamp stamp, bool pending) {
    Record& record = stamp.record();
    if (!record.has_sc_clocks) return;
    ScClocks& clocks = ready_sc_clocks(t);
    for (MessageClock const which : {message_p, message_f, message_e})
        join(clocks[2 * which + pending], record.message(which));
    ScClock const p = clocks[strongly_before + pending];
    Slot const slot = stamp.slot();
    if (p.accesses[slot] < stamp.time() - 1) p.accesses[slot] = stamp.time() - 1;
    if (stamp.time() > record.from) {
        Time const fence = record.message(message_f).writes()[slot];
        if (p.writes()[slot] < fence) p.writes()[slot] = fence;
    }
    t.after_fence = t.after_fence || record.after_fence;
    ++t.sc_version;
}

// The thread's own time comes last: others may look at our clocks meanwhile, and conclude that we no longer
// need the record.
void join_record(Time* clock, Stamp stamp, Time const* known) {
    join(clock, known, stamp.record().width);
    __atomic_store_n(&clock[stamp.slot()], stamp.time(), __ATOMIC_RELEASE);
}

// Only a thread that was in pthread_join, and is in a signal handler or was cancelled, can find that a record
// is gone (threads.hpp). It was dropped because all others knew as C what it said.
bool is_gone(Stamp stamp) {
    return stamp.record().from > stamp.time();
}
void learn_what_all_know(Thread& t) {
    for (Time* clock : {t.sc, t.acquire, t.current}) join(clock, known_to_all, clock_width);
    learned(t);
}

// A and, if it acquires, C learn what the stamp's thread knew as C. Gives whether C knows it then.
bool acquire_stamp(Thread& t, Stamp stamp, bool acquire) {
    if (stamp.known_to(t.current)) return true;
    if (is_gone(stamp)) {
        learn_what_all_know(t);
        return true;
    }
    if (!stamp.known_to(t.acquire)) {
        learn_sc_clocks(t, stamp, true);
        join_record(t.acquire, stamp, stamp.record().current());
        t.changed = true;
    }
    if (!acquire) return false;
    learn_sc_clocks(t, stamp, false);
    join_record(t.current, stamp, stamp.record().current());
    learned(t);
    return true;
}

bool acquire_message(Thread& t, Cell const& x, bool acquire) {
    if (x.message_is_write) return acquire_stamp(t, x.written, acquire);
    if (!x.has_messages) return true;
    bool known = acquire_stamp(t, x.message, acquire);
    for (Stamp const& stamp : x.more_messages()) known = acquire_stamp(t, stamp, acquire) && known;
    return known;
}

// SC[t] learns what the stamp's thread knew as SC.
void learn_sc(Thread& t, Cell const& x, Stamp stamp, PackedAccess access, bool reads_from, AccessSite site) {
    if (stamp.known_to(t.sc)) return;
    Record const& record = stamp.record();
    if (is_gone(stamp)) return learn_what_all_know(t);
    Moment const before = moment_of(*record.provenance, stamp.slot(), stamp.time(), record.links);
    AccessAt const to{site.pc, t.id, site.access, site.order};
    add_link(*t.provenance,
             {x.address(), access.by(record.thread), to, before, t.provenance->fences, reads_from});
    join(t.sc, record.sc(), record.width);
    t.sc[stamp.slot()] = stamp.time();
    learned(t);
}

// And that of the newest write.
void learn_write(Thread& t, Cell const& x, AccessSite site) {
    if (x.written.known_to(t.sc)) return;
    Writer const writer = x.newest_writer();
    PackedAccess const access{kept_pc(writer.stack), writer.access, writer.order};
    learn_sc(t, x, x.written, access, reads(site.access), site);
}

// A write comes after all earlier accesses under SC.
void learn_accesses(Thread& t, Cell& x, AccessSite site) {
    learn_write(t, x, site);
    learn_sc(t, x, x.read, x.read_access, false, site);
    if (!x.has_readers) return;
    for (Reader const& reader : x.more_readers()) learn_sc(t, x, reader.stamp, reader.access, false, site);
    x.forget_readers();
}

// At most one of a thread: the later it is, the more it knows.
void add_reader(Thread& t, Cell& x, AccessSite site) {
    Reader const reader{stamp_of(t), site.packed()};
    if (replaces_reader(t, x)) {
        x.read = reader.stamp;
        x.read_access = reader.access;
        return;
    }
    for (Reader& other : x.more_readers()) {
        if (!other.stamp.known_to(t.sc)) continue;
        other = reader;
        return;
    }
    x.make_others().readers.add(reader);
    x.has_readers = true;
}

// Likewise; but it may be earlier than what is there.
void add_message(Cell& x, Stamp stamp) {
    if (!x.has_messages) {
        x.has_messages = true;
        x.message = stamp;
        return;
    }
    auto const is_settled_by = [&](Stamp& other) {
        if (other.slot() != stamp.slot()) return false;
        if (other.time() < stamp.time()) other = stamp;
        return true;
    };
    if (is_settled_by(x.message)) return;
    for (Stamp& other : x.more_messages())
        if (is_settled_by(other)) return;
    x.make_others().messages.add(stamp);
}

}  // namespace

// hb and S are part of hbsc, so C, F and P know no more than SC, and what they know stands not behind what SC
// knows.
bool differ(Thread const& t, Cell const& x, Order order, Awareness& a) {
    if (x.newest_known_to(t.current)) return false;
    History const& h = x;
    a.s = h.known(t.sc, h.last());
    if (t.sc_clocks == nullptr) {
        a.c = h.known(t.current, a.s);
    } else {
        ScClock const f = (*t.sc_clocks)[fences_before], p = (*t.sc_clocks)[strongly_before];
        a.c = h.last_known(
            [&](Step const& step) {
                return step.known_to(t.current) || step.known_to(f) ||
                       (order == Order::seq_cst && step.known_to(p));
            },
            a.s);
    }
    return h.any_write_between(a.c, a.s);
}

bool check_load(Thread const& t, Cell const& x, Order order, Violation& v) {
    Awareness a;
    if (!differ(t, x, order, a)) return false;
    describe(t, x, a, order, v);
    v.has_value = true;
    v.could = v.known.value;
    v.certain = false;
    x.any_between(a.c, a.s, [&](std::uint64_t value, bool) {
        v.stale[v.stale_count++] = value;
        return v.stale_count == Violation::most_stale;
    });
    return true;
}

bool check_write(Thread const& t, Cell const& x, Order order, Violation& v) {
    Awareness a;
    if (!differ(t, x, order, a) || !x.any_store_between(a.c, a.s)) return false;
    describe(t, x, a, order, v);
    return true;
}

bool check_wait(Thread const& t, Cell const& x, Order order, std::uint64_t const* values, std::size_t count,
                Violation& v) {
    return check_values(t, x, order, v, [&](std::uint64_t value, bool) {
        for (std::size_t i = 0; i < count; ++i)
            if (values[i] == value) return true;
        return false;
    });
}

bool check_cas_success(Thread const& t, Cell const& x, Order order, std::uint64_t expected, Violation& v) {
    return check_values(t, x, order, v,
                        [&](std::uint64_t value, bool free) { return value == expected && free; });
}

bool check_cas(Thread const& t, Cell const& x, Order success, Order failure, std::uint64_t expected,
               Violation& v) {
    if (check_cas_success(t, x, success, expected, v)) return true;
    if (!check_values(t, x, failure, v, [&](std::uint64_t value, bool) { return value != expected; }))
        return false;
    v.certain = false;
    return true;
}

// SC before C: once a time is in C, others conclude that the thread will not ask for it any more.
void read_part(Thread& t, Cell& x, bool acquire, AccessSite site) {
    if (!ready_for_step(t)) return;
    learn_write(t, x, site);
    bool const concerned = concerns_sc(t, x, site.order);
    ScRead sc{};
    if (concerned) sc = begin_sc_read(t, x, site.order);
    acquire_message(t, x, acquire);
    if (concerned) learn_eco(t, x, site.access);
    if (!sc.marks && !x.knows_newest(static_cast<Time const*>(t.current))) {
        take_step(t);
        x.add_knower(t.slot, t.time, false);
    }
    if (concerned) end_sc_read(t, x, site.order, sc);
    add_reader(t, x, site);
}

void write_part(Thread& t, Cell& x, std::uint64_t value, bool release, AccessSite site) {
    if (!ready_for_step(t)) return;
    learn_accesses(t, x, site);
    bool const concerned = concerns_sc(t, x, site.order);
    ScWrite sc{};
    if (concerned) sc = begin_sc_write(t, x, site.order);
    if (concerned) learn_eco(t, x, site.access);
    add_write(t, x, value, site);
    leave_message(t, x, release);
    if (concerned) end_sc_write(t, x, site.order, sc);
}

void rmw_parts(Thread& t, Cell& x, std::uint64_t value, bool acquire, bool release, AccessSite site) {
    if (!ready_for_step(t)) return;
    learn_accesses(t, x, site);
    bool const concerned = concerns_sc(t, x, site.order);
    ScWrite sc{};
    if (concerned) sc = begin_sc_write(t, x, site.order);
    bool const knows_message = acquire_message(t, x, acquire);
    if (concerned) learn_eco(t, x, site.access);
    x.keep_message();
    add_write(t, x, value, site);
    if (release && knows_message)
        leave_message(t, x, release);
    else if (Stamp const stamp = release ? x.written : t.release; stamp.time() != 0)
        add_message(x, stamp);
    if (concerned) end_sc_write(t, x, site.order, sc);
}

// The location's clocks come first: those of the thread are then no less wide, and hold nothing that would
// not fit.
ScRead begin_sc_read(Thread& t, Cell& x, Order order) {
    bool const sc = order == Order::seq_cst;
    if (!sc && !t.after_fence) return {};
    ScClocks& of_x = x.ready_sc_clocks();
    ScClocks& of_t = ready_sc_clocks(t);
    ScClock const after = of_x[before_writes], p = of_t[strongly_before], f = of_t[fences_before];
    ScSettled& writes = x.others->writes;
    if (is_settled_read(t, x, order)) {
        if (writes.version != t.sc_version) writes = {};
        join_slot(after, sc ? p : f, t.slot);
        return {};
    }
    if (t.after_fence) join_news(after, f, t.slot);
    if (sc) raise(t, strongly_before, of_x[before_reads]);
    if (writes.version != t.sc_version || (sc && !writes.seq_cst)) writes = {};
    if (!sc) return {false, t.sc_version};
    join_news(after, p, t.slot);
    return {!x.written.known_to(known_to_all) && !x.knows_newest(p), t.sc_version};
}

void end_sc_read(Thread& t, Cell& x, Order order, ScRead sc) {
    if (sc.marks) {
        take_step(t);
        x.add_knower(t.slot, t.time, true);
        set_marked(t);
        x.sc_clock(before_writes).accesses[t.slot] = t.time;
    }
    if (sc.settles == t.sc_version) x.others->reads = {sc.settles, order == Order::seq_cst, false};
}

ScWrite begin_sc_write(Thread& t, Cell& x, Order order) {
    bool const settled = x.has_sc_clocks && x.others->writes.holds(t, order);
    if (order != Order::seq_cst || settled) return {settled, t.sc_version};
    ScClocks& of_x = x.ready_sc_clocks();
    ScClocks& of_t = ready_sc_clocks(t);
    copy(of_t[own], of_t[strongly_before]);
    join(of_t[own], of_x[before_reads]);
    join(of_t[own], of_x[before_writes]);
    return {false, t.sc_version};
}

// E counts only together with C (at SC fences), and both travel together. So what C knows is not needed.
void learn_eco(Thread& t, Cell& x, Access access) {
    if (!x.has_sc_clocks) return;
    ScSettled& settled = writes(access) ? x.others->writes : x.others->reads;
    if (settled.version == t.sc_version && settled.eco_known) return;
    auto const learn = [&](ScClock in) {
        if (!is_news(in, t)) return;
        ready_sc_clocks(t);
        raise(t, eco_before, in);
    };
    learn(x.sc_clock(before_reads));
    if (writes(access)) learn(x.sc_clock(before_writes));
    settled.eco_known = settled.version == t.sc_version;
}

void end_sc_write(Thread& t, Cell& x, Order order, ScWrite begun) {
    bool const sc = order == Order::seq_cst;
    ScClocks& of_x = x.ready_sc_clocks();
    ScClocks& of_t = ready_sc_clocks(t);
    ScClock const before = of_x[before_reads], after = of_x[before_writes], k = of_t[own];
    if (sc) set_marked(t);
    ScSettled& reads = x.others->reads;
    if (begun.settled) {
        if (reads.version != t.sc_version) reads = {};
        join_slot(before, sc ? of_t[strongly_before] : after, t.slot);
        if (t.after_fence) join_slot(before, of_t[fences_before], t.slot);
        return;
    }
    bool const as_before = t.sc_version == begun.version;  // P is still what K was made of
    if (sc) {
        k.accesses[t.slot] = t.time;
        raise(t, strongly_before, k);
    }
    join_news(before, sc ? k : after, t.slot);
    bool settles = as_before;
    if (t.after_fence) {
        join_news(before, of_t[fences_before], t.slot);
        settles = settles && (!sc || !ahead(of_t[fences_before], of_t[strongly_before]));
    }
    x.others->writes = {settles ? t.sc_version : 0, sc, false};
    reads.eco_known = false;
    if (!settles || !sc || reads.version != t.sc_version) reads = {};
}

void read_known_in_sc(Thread& t, Cell& x, Order order, Access access) {
    ScRead const sc = begin_sc_read(t, x, order);
    learn_eco(t, x, access);
    end_sc_read(t, x, order, sc);
}

void write_over_known_in_sc(Thread& t, Cell& x, std::uint64_t value, bool release, AccessSite site) {
    bool const rmw = site.access != Access::store;
    ScWrite const sc = begin_sc_write(t, x, site.order);
    learn_eco(t, x, site.access);
    if (rmw && !release) x.keep_message();
    add_write(t, x, value, site);
    if (!rmw || release) leave_message(t, x, release);
    end_sc_write(t, x, site.order, sc);
}

void acquire_fence(Thread& t) {
    if (join(t.current, t.acquire, clock_width)) learned(t);
    if (t.sc_clocks == nullptr) return;
    for (ThreadClock const now : {strongly_before, fences_before, eco_before})
        raise(t, now, (*t.sc_clocks)[now + 1]);
}

// The message tells of marked steps before it, so there must be none at its own time.
void release_fence(Thread& t) {
    if (!ready_for_step(t)) return;
    if (t.sc_clocks != nullptr && (*t.sc_clocks)[strongly_before].accesses[t.slot] == t.time) take_step(t);
    t.release = stamp_of(t);
}

// If nothing has changed since this thread's last one, there is only this to do: messages of relaxed writes
// come after both, so they now tell P of that fence. Time goes on after a fence, so that later messages are
// known to be later.
void sc_fence(Thread& t) {
    if (!ready_for_step(t)) return;
    if (!t.changed) {
        if (t.restamps) t.release = stamp_of(t);
        t.restamps = false;
        return;
    }
    std::uint64_t const version = t.sc_version;
    ScClocks& clocks = ready_sc_clocks(t);
    copy(clocks[own], clocks[strongly_before]);
    acquire_fence(t);
    join(clocks[own], clocks[eco_before]);
    join(clocks[own].writes(), t.current, clocks.width());
    raise(t, fences_before, clocks[own]);
    t.after_fence = t.has_learned = true;  // at least the thread's own part of F is new
    release_fence(t);
    raise(t, strongly_before, (*t.sc_clocks)[own]);  // which the new record may have moved
    let_time_go_on(t);
    t.changed = t.sc_version != version;
    t.restamps = true;
}

namespace {

// By whom the thread learns something at a synchronisation object: a barrier has many releases for one wait.
void note_releasers(Thread& t, Cell const& x) {
    Object const& object = *x.object;
    for (Moment const& release : object.releasers) {
        if (release.of == nullptr || release.slot == no_slot || t.sc[release.slot] >= release.time) continue;
        AccessAt const from{0, release.thread, Access::synchronisation, Order::release};
        AccessAt const to{0, t.id, Access::synchronisation, Order::acquire};
        add_link(*t.provenance, {x.address(), from, to, release, t.provenance->fences, true});
    }
}

void note_release(Object& object, Thread const& t) {
    for (Moment& release : object.releasers) {
        if (release.of != nullptr && release.thread != t.id) continue;
        release = moment_of(t);
        return;
    }
    object.releasers[object.releases++ % Object::most_releasers] = moment_of(t);
}

}  // namespace

void acquire_from(Thread& t, Cell const& x) {
    Object& object = *x.object;
    if (ahead(object.sc(), t.sc, object.width)) {
        note_releasers(t, x);
        join(t.sc, object.sc(), object.width);
        learned(t);
    }
    if (join(t.acquire, object.current(), object.width)) learned(t);
    if (join(t.current, object.current(), object.width)) learned(t);
    if (object.sc_clocks == nullptr) return;
    ready_sc_clocks(t);
    for (MessageClock const which : {message_p, message_f, message_e})
        raise(t, static_cast<ThreadClock>(2 * which), (*object.sc_clocks)[which]);
    t.after_fence = t.after_fence || object.after_fence;
}

void release_to(Thread& t, Cell& x) {
    Object& object = *x.object;
    object.widen();
    join(object.current(), t.current, object.width);
    join(object.sc(), t.sc, object.width);
    note_release(object, t);
    if (t.sc_clocks == nullptr) return;
    ScClocks& clocks = ScClocks::ready(object.sc_clocks, message_clocks);
    for (MessageClock const which : {message_p, message_f, message_e})
        join(clocks[which], (*t.sc_clocks)[2 * which]);
    object.after_fence = object.after_fence || t.after_fence;
}

}  // namespace fencepost
