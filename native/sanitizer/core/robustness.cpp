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
    t.changed = t.changed_by_others = t.has_learned = true;
}

// P, F or E have changed, by more than the thread's own part.
void has_news(Thread& t) {
    t.changed = t.changed_by_others = t.has_new_sc_clocks = true;
}

// P, F or E.
void raise(Thread& t, ThreadClock which, ScClock by) {
    if (!join((*t.sc_clocks)[which], by)) return;
    has_news(t);
    if (which != eco_before) change_sc_version(t);
}

void raise_to(Time& time, Time least) {
    if (time < least) time = least;
}

// Its last marked step.
void set_marked(Thread& t) {
    (*t.sc_clocks)[strongly_before].accesses[t.slot] = t.time;
}

// What the stamp's thread had as P, F and E, now or as pending.
void learn_sc_clocks(Thread& t, Stamp stamp, bool pending) {
    Record& record = stamp.record();
    if (!record.has_sc_clocks) return;
    ScClocks& clocks = ready_sc_clocks(t);
    if (pending && !t.pends) {
        for (ThreadClock const now : {strongly_before, fences_before, eco_before}) clocks.clear(now + 1);
        t.pends = true;
    }
    Slot const slot = stamp.slot();
    ScClock const p = clocks[strongly_before + pending], f = clocks[fences_before + pending];
    join(p, record.message(message_p), record.sc_lanes);
    if (p.lanes().begin == 0) raise_to(p.accesses[slot], stamp.time() - 1);
    if (record.after_fence) {
        join(f, record.message(message_f), record.sc_lanes);
        raise_to(f.writes()[slot], record.own_fence_before(stamp.time()));
    }
    if (record.after_eco) join(clocks[eco_before + pending], record.message(message_e), record.sc_lanes);
    t.after_fence = t.after_fence || record.after_fence;
    t.after_eco = t.after_eco || record.after_eco;
    if (pending) return;
    t.has_new_sc_clocks = true;
    change_sc_version(t);
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
        if (!acquire) learn_sc_clocks(t, stamp, true);
        join_record(t.acquire, stamp, stamp.record().current());
        t.changed = t.changed_by_others = true;
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
    Moment const before =
        moment_of(*record.provenance, stamp.slot(), stamp.time(), record.links, record.fences);
    AccessAt const to{site.pc, t.id, site.access(), site.order()};
    add_link(*t.provenance,
             {x.address(), access.by(record.thread), to, before, t.provenance->fences, reads_from});
    join(t.sc, record.sc(), record.width);
    t.sc[stamp.slot()] = stamp.time();
    t.has_learned = true;
}

// And that of the newest write.
void learn_write(Thread& t, Cell const& x, AccessSite site) {
    if (x.written.known_to(t.sc)) return;
    Writer const writer = x.newest_writer();
    PackedAccess const access{kept_pc(writer.stack), writer.access, writer.order};
    learn_sc(t, x, x.written, access, reads(site.access()), site);
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
    if (!x.may_have_stores() || !differ(t, x, order, a) || !x.any_store_between(a.c, a.s)) return false;
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
    if (!x.may_have_stores()) return false;
    return check_values(t, x, order, v,
                        [&](std::uint64_t value, bool free) { return value == expected && free; });
}

bool check_cas(Thread const& t, Cell const& x, Order success, Order failure, std::uint64_t expected,
               Violation& v) {
    auto const fails = [&](std::uint64_t value, bool) { return value != expected; };
    if (check_cas_success(t, x, success, expected, v)) {
        Violation failing;  // a repair must remove that too
        if (success != failure && check_values(t, x, failure, failing, fails)) v.order = failure;
        return true;
    }
    if (!check_values(t, x, failure, v, fails)) return false;
    v.certain = false;
    return true;
}

namespace {

// The clocks of both, of one width: another thread may need more room at any time.
[[gnu::noinline]] void make_ready(Thread& t, Cell& x) {
    do {
        x.ready_sc_clocks();
        ready_sc_clocks(t);
    } while (x.others->sc_clocks->width() != t.sc_clocks->width());
}
[[gnu::always_inline]] inline void ready(Thread& t, Cell& x) {
    std::uint32_t const width = clock_width;
    if (!x.has_sc_clocks || x.others->sc_clocks->width() != width || t.sc_clocks == nullptr ||
        t.sc_clocks->width() != width) [[unlikely]]
        make_ready(t, x);
}

// P and what is before writes, by a seq_cst read.
[[gnu::always_inline]] inline bool raise_by_read(ScClock p, ScClock before, ScClock after) {
    ScLanes const used = p.lanes();
    detail::Vector news{};
    for (std::size_t i = used.begin; i < used.end; i += detail::vector_lanes) {
        detail::Vector const b = detail::load(before.accesses + i), old = detail::load(p.accesses + i),
                             now = detail::later(old, b);
        news |= b > old;
        detail::store(p.accesses + i, now);
        detail::store(after.accesses + i, detail::later(now, detail::load(after.accesses + i)));
    }
    return detail::any(news);
}

// What is before reads, by a seq_cst write with this P. Whether it is more than P then.
[[gnu::always_inline]] inline bool raise_by_write(ScClock p, ScClock before, ScClock after) {
    ScLanes const used = p.lanes();
    detail::Vector news{};
    for (std::size_t i = used.begin; i < used.end; i += detail::vector_lanes) {
        detail::Vector const old = detail::load(p.accesses + i),
                             in = detail::later(detail::load(before.accesses + i),
                                                detail::load(after.accesses + i));
        news |= in > old;
        detail::store(before.accesses + i, detail::later(in, old));
    }
    return detail::any(news);
}

// Do P, F, E and C not know some of it?
bool is_news(ScClock in, Thread const& t) {
    ScLanes const used = in.lanes();
    bool const has_clocks = t.sc_clocks != nullptr && t.sc_clocks->width() == in.width;
    detail::Vector news{};
    for (std::size_t i = used.begin; i < used.end; i += detail::vector_lanes) {
        detail::Vector known = detail::load(t.current + (i < in.width ? i : i - in.width));
        for (ThreadClock const now : {strongly_before, fences_before, eco_before})
            if (has_clocks) known = detail::later(known, detail::load((*t.sc_clocks)[now].accesses + i));
        news |= detail::load(in.accesses + i) > known;
    }
    return detail::any(news);
}

// E, by an access that is not seq_cst; when the thread knows the message that it reads, and before it sends
// one. Whoever made the newest write then had as E, C and P all that the location has before reads, and those
// who know the write have it too. Only the message of a seq_cst write lacks it.
void learn_eco(Thread& t, Cell& x, bool knew_write, bool writes) {
    if (!x.has_sc_clocks) return;
    auto const learn = [&](ScClock in) {
        if (!is_news(in, t)) return;
        ready_sc_clocks(t);
        t.after_eco = true;
        raise(t, eco_before, in);
    };
    bool const known =
        knew_write || (x.newest_writer().order != Order::seq_cst && x.newest_known_to(t.current));
    if (!known) learn(x.sc_clock(before_reads));
    if (writes && x.others->read_in_s) learn(x.sc_clock(before_writes));
}

// A read, before it acquires: it is in S, or after a fence.
struct ScRead {
    bool marks;             // a step of its own
    std::uint64_t settles;  // version; 0: none
};
// One that is settled.
[[gnu::always_inline]] inline void read_again(Thread const& t, Others& others, bool sc) {
    others.read_in_s = true;
    if (!others.writes.is_of(t)) others.writes = {};
    ScClock const after = (*others.sc_clocks)[before_writes];
    if (sc) join_slot(after, (*t.sc_clocks)[strongly_before], t.slot);
    if (t.after_fence) join_slot(after, (*t.sc_clocks)[fences_before], t.slot);
}
[[gnu::always_inline]] inline ScRead begin_read(Thread& t, Cell& x, Order order) {
    bool const sc = order == Order::seq_cst;
    if (sc) note_sc_event(sc_events_made.accesses);
    ready(t, x);
    Others& others = *x.others;
    if (is_settled_read(t, x, order)) {
        read_again(t, others, sc);
        return {};
    }
    ScClock const after = (*others.sc_clocks)[before_writes], p = (*t.sc_clocks)[strongly_before],
                  f = (*t.sc_clocks)[fences_before];
    others.read_in_s = true;
    if (sc && raise_by_read(p, (*others.sc_clocks)[before_reads], after)) {
        has_news(t);
        change_sc_version(t);
    }
    if (t.after_fence) join(after, f);
    if (!others.writes.holds(t, true) && (sc || !others.writes.holds(t, false))) others.writes = {};
    bool const marks = sc && x.newest_writer().order != Order::seq_cst && !x.written.known_to(known_to_all) &&
                       !x.knows_newest(p);
    return {marks, t.sc_version};
}

// All of one that is not seq_cst, and acquires nothing; it is not settled.
void read_after_fence(Thread& t, Cell& x) {
    ready(t, x);
    Others& others = *x.others;
    others.read_in_s = true;
    if (ScSettled& writes = others.writes; !writes.is_of(t)) writes = {};
    join((*others.sc_clocks)[before_writes], (*t.sc_clocks)[fences_before]);
    others.reads = {t, false};
}

// Last of all.
[[gnu::always_inline]] inline void end_read(Thread& t, Cell& x, Order order, ScRead begun) {
    if (begun.marks) {
        take_step(t);
        x.add_knower(t.slot, t.time, true);
        set_marked(t);
        x.sc_clock(before_writes).accesses[t.slot] = t.time;
    }
    if (begun.settles == t.sc_version) x.others->reads = {t, order == Order::seq_cst};
}

// A seq_cst write, before it acquires: K is what will be before reads.
struct ScWrite {
    bool settled;
    bool news;              // K is more than P
    std::uint64_t version;  // that K was made of
};
ScWrite begin_seq_cst_write(Thread& t, Cell& x) {
    if (x.has_sc_clocks && x.others->writes.holds(t, true)) return {true, false, 0};
    note_sc_event(sc_events_made.accesses);
    ready(t, x);
    x.others->read_in_s = false;
    bool const news =
        raise_by_write((*t.sc_clocks)[strongly_before], x.sc_clock(before_reads), x.sc_clock(before_writes));
    return {false, news, t.sc_version};
}

void end_seq_cst_write(Thread& t, Cell& x, ScWrite begun) {
    set_marked(t);
    Others& others = *x.others;
    ScClock const before = x.sc_clock(before_reads), f = (*t.sc_clocks)[fences_before];
    if (begun.settled) {
        if (!others.reads.is_of(t)) others.reads = {};
        join_slot(before, (*t.sc_clocks)[strongly_before], t.slot);
        if (t.after_fence) join_slot(before, f, t.slot);
        return;
    }
    bool const settles = t.sc_version == begun.version;  // P is still what K was made of
    before.accesses[t.slot] = t.time;
    if (begun.news) raise(t, strongly_before, before);
    if (t.after_fence) join(before, f);
    others.writes = settles ? ScSettled(t, true) : ScSettled();
    if (!settles || !others.reads.is_of(t)) others.reads = {};
}

// What is before reads, by another write of a thread after a fence. Whether what was before writes is more
// than P, F, E and C.
bool raise_by_other_write(Thread const& t, ScClock before, ScClock after) {
    using detail::later, detail::load;
    ScClocks& clocks = *t.sc_clocks;
    ScLanes const used = before.lanes();
    Time const *const p = clocks[strongly_before].accesses, *const f = clocks[fences_before].accesses,
                      *const e = clocks[eco_before].accesses;
    detail::Vector news{};
    for (std::size_t i = used.begin; i < used.end; i += detail::vector_lanes) {
        std::size_t const in_half = i < before.width ? i : i - before.width;
        detail::Vector const in = load(after.accesses + i), fences = load(f + i),
                             known = later(later(fences, load(t.current + in_half)),
                                           later(load(p + i), load(e + i)));
        news |= in > known;
        detail::store(before.accesses + i, later(later(load(before.accesses + i), in), fences));
    }
    return detail::any(news);
}

// Another write, before it sends a message: if its thread is after a fence, or the location is in S.
void write_otherwise(Thread& t, Cell& x, bool knew_write) {
    if (!t.after_fence) {
        learn_eco(t, x, knew_write, true);
        Others& others = *x.others;
        if (!others.read_in_s) return;
        join(x.sc_clock(before_reads), x.sc_clock(before_writes));
        others.read_in_s = false;
        others.reads = others.writes = {};
        return;
    }
    if (x.has_sc_clocks && x.others->writes.holds(t, false)) {
        ScClock const before = x.sc_clock(before_reads);
        if (!x.others->reads.is_of(t)) x.others->reads = {};
        join_slot(before, x.sc_clock(before_writes), t.slot);
        join_slot(before, (*t.sc_clocks)[fences_before], t.slot);
        return;
    }
    ready(t, x);
    learn_eco(t, x, knew_write, false);
    ScClock const after = x.sc_clock(before_writes);
    if (raise_by_other_write(t, x.sc_clock(before_reads), after)) {
        t.after_eco = true;
        raise(t, eco_before, after);
    }
    x.others->read_in_s = false;
    x.others->writes = {t, false};
    x.others->reads = {};
}

}  // namespace

void read_known_in_s(Thread& t, Cell& x, Order order) {
    bool const sc = order == Order::seq_cst;
    if (is_settled_read(t, x, order)) return read_again(t, *x.others, sc);
    if (!sc) return read_after_fence(t, x);
    end_read(t, x, order, begin_read(t, x, order));
}

void write_over_known_in_s(Thread& t, Cell& x, std::uint64_t value, bool release, AccessSite site) {
    bool const rmw = site.access() != Access::store, sc = site.order() == Order::seq_cst;
    ScWrite begun{};
    if (sc)
        begun = begin_seq_cst_write(t, x);
    else
        write_otherwise(t, x, true);
    if (rmw && !release) x.keep_message();
    add_write(t, x, value, release, site);
    if (!rmw || release) leave_message(t, x, release);
    if (sc) end_seq_cst_write(t, x, begun);
}

bool reads_known_anew(Thread& t, Cell& x, AccessSite site) {
    return reads_known(t, x, site);
}
bool writes_over_known_anew(Thread& t, Cell& x, std::uint64_t value, bool release, AccessSite site) {
    return writes_over_known(t, x, value, release, site);
}

// SC before C: once a time is in C, others conclude that the thread will not ask for it any more.
void read_part(Thread& t, Cell& x, bool acquire, AccessSite site) {
    if (!ready_for_step(t)) return;
    learn_write(t, x, site);
    bool const in_s = reads_in_s(t, site.order()), knew_write = x.newest_known_to(t.current);
    ScRead begun{};
    if (in_s) begun = begin_read(t, x, site.order());
    acquire_message(t, x, acquire);
    if (site.order() != Order::seq_cst) learn_eco(t, x, knew_write, false);
    if (!begun.marks && !x.knows_newest(static_cast<Time const*>(t.current))) {
        take_step(t);
        x.add_knower(t.slot, t.time, false);
    }
    if (in_s) end_read(t, x, site.order(), begun);
    add_reader(t, x, site);
}

void write_part(Thread& t, Cell& x, std::uint64_t value, bool release, AccessSite site) {
    if (!ready_for_step(t)) return;
    x.expect_step();
    learn_accesses(t, x, site);
    bool const sc = site.order() == Order::seq_cst;
    ScWrite begun{};
    if (sc)
        begun = begin_seq_cst_write(t, x);
    else if (writes_in_s(t, x, site.order()))
        write_otherwise(t, x, x.newest_known_to(t.current));
    add_write(t, x, value, release, site);
    leave_message(t, x, release);
    if (sc) end_seq_cst_write(t, x, begun);
}

void rmw_parts(Thread& t, Cell& x, std::uint64_t value, bool acquire, bool release, AccessSite site) {
    if (!ready_for_step(t)) return;
    x.expect_step();
    learn_accesses(t, x, site);
    bool const sc = site.order() == Order::seq_cst, knew_write = x.newest_known_to(t.current);
    ScWrite begun{};
    if (sc) begun = begin_seq_cst_write(t, x);
    bool const knows_message = acquire_message(t, x, acquire);
    if (!sc && writes_in_s(t, x, site.order())) write_otherwise(t, x, knew_write);
    x.keep_message();
    add_write(t, x, value, release, site);
    if (release && knows_message)
        leave_message(t, x, release);
    else if (Stamp const stamp = release ? x.written : t.release; stamp.time() != 0)
        add_message(x, stamp);
    if (sc) end_seq_cst_write(t, x, begun);
}

void acquire_fence(Thread& t) {
    if (join(t.current, t.acquire, clock_width)) learned(t);
    if (!t.pends) return;
    t.pends = false;
    for (ThreadClock const now : {strongly_before, fences_before, eco_before})
        raise(t, now, (*t.sc_clocks)[now + 1]);
}

// The message tells of marked steps before it, so there must be none at its own time.
void release_fence(Thread& t) {
    if (!ready_for_step(t)) return;
    if (t.sc_clocks != nullptr && (*t.sc_clocks)[strongly_before].accesses[t.slot] == t.time) take_step(t);
    t.release = message_of(t);
}

namespace {

// Whether F has changed by more than the thread's own part.
bool raise_by_fence(Thread& t) {
    ScClocks& clocks = *t.sc_clocks;
    ScClock const f = clocks[fences_before];
    f.writes()[t.slot] = t.time;
    bool news = join(f, clocks[strongly_before]);
    if (t.after_eco) news = join(f, clocks[eco_before]) || news;
    return join(f.writes(), t.current, clocks.width()) || news;
}

void fence_after_news(Thread& t) {
    note_sc_event(sc_events_made.fences);
    ready_sc_clocks(t);
    acquire_fence(t);
    if (raise_by_fence(t)) change_sc_version(t);
    t.after_fence = t.has_new_sc_clocks = true;  // at least the thread's own part of F is new
    if (t.after_eco) t.sc_clocks->clear(eco_before);
    t.after_eco = t.changed_by_others = false;
    release_fence(t);
}

// Since the thread's last SC fence F has all that it knows of others as P, E and C. If nothing has come to it
// from others since, K is F with the thread's own part, and the record may stay. False: there is no room in
// it, or it must not.
bool fence_again(Thread& t) {
    if (t.changed_by_others || t.has_learned || t.has_new_sc_clocks ||
        !t.records.newest->add_own_fence(t.time))
        return false;
    (*t.sc_clocks)[fences_before].writes()[t.slot] = t.time;
    let_time_go_on(t);
    t.release = {t.stamp_word, t.time};
    return true;
}

}  // namespace

// If nothing has changed since this thread's last one, nothing changes.
void sc_fence(Thread& t) {
    if (!ready_for_step(t) || !t.changed) return;
    if (!fence_again(t)) fence_after_news(t);
    t.changed = false;
}

namespace {

// By whom the thread learns something at a synchronisation object: a barrier has many releases for one wait.
void note_releasers(Thread& t, Cell const& x) {
    Object const& object = *x.object;
    for (Moment const& release : object.releasers.all()) {
        if (release.of == nullptr || release.slot == no_slot || t.sc[release.slot] >= release.time) continue;
        AccessAt const from{0, release.thread, Access::synchronisation, Order::release};
        AccessAt const to{0, t.id, Access::synchronisation, Order::acquire};
        add_link(*t.provenance, {x.address(), from, to, release, t.provenance->fences, true});
    }
}

void note_release(Object& object, Thread const& t) {
    std::span<Moment> const before = object.releasers.all();
    for (Moment& release : before) {
        if (release.thread != t.id) continue;
        release = moment_of(t);
        return;
    }
    if (before.size() < Object::most_releasers)
        object.releasers.add(moment_of(t));
    else
        before[object.releases++ % Object::most_releasers] = moment_of(t);
}

}  // namespace

void acquire_from(Thread& t, Cell const& x) {
    Object& object = *x.object;
    if (ahead(object.sc(), t.sc, object.width)) {
        note_releasers(t, x);
        join(t.sc, object.sc(), object.width);
        t.has_learned = true;
    }
    if (join(t.acquire, object.current(), object.width)) learned(t);
    if (join(t.current, object.current(), object.width)) learned(t);
    if (object.sc_clocks == nullptr) return;
    ready_sc_clocks(t);
    for (MessageClock const which : {message_p, message_f, message_e})
        raise(t, static_cast<ThreadClock>(2 * which), (*object.sc_clocks)[which]);
    t.after_fence = t.after_fence || object.after_fence;
    t.after_eco = t.after_eco || object.after_eco;
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
    object.after_eco = object.after_eco || t.after_eco;
}

}  // namespace fencepost
