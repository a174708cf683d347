#include "sanitizer/core/robustness.hpp"

#include "sanitizer/core/stacks.hpp"
#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/options.hpp"

namespace fencepost {

FenceLocation fence_location;

namespace {

void describe(Thread const& t, History const& h, Awareness a, Violation& v) {
    v.missed = h.at(a.s);
    v.known = h.at(a.c);
    v.learned_by = t.provenance.raised_by[v.missed.slot];
    v.has_value = false;
    v.could = 0;
    v.certain = true;
    v.stale_count = 0;
}

// Is there a write between c and s that `wanted(value, free)` holds for?
template <class Wanted>
bool check_values(Thread const& t, Cell const& x, Violation& v, Wanted wanted) {
    Awareness a;
    if (!differ(t, x, a)) return false;
    std::uint64_t could = 0;
    bool const found = x.any_between(a.c, a.s, [&](std::uint64_t value, bool free) {
        could = value;
        return wanted(value, free);
    });
    if (!found) return false;
    describe(t, x, a, v);
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
        join_record(t.acquire, stamp, stamp.record().current());
        t.changed = true;
    }
    if (!acquire) return false;
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
    Link const link{now_in_ticks(),
                    x.address(),
                    access.by(record.thread),
                    {site.pc, t.id, site.access, site.order},
                    reads_from};
    learn_by(t.provenance, link, t.sc, record.sc(), record.width);
    t.sc[stamp.slot()] = stamp.time();
    t.provenance.raised_by[stamp.slot()] = t.provenance.made;
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

// hb is part of hbsc, so C knows no more than SC, and what it knows stands not behind what SC knows.
bool differ(Thread const& t, Cell const& x, Awareness& a) {
    if (x.newest_known_to(t.current)) return false;
    History const& h = x;
    a.s = h.known(t.sc, h.last());
    a.c = h.known(t.current, a.s);
    return h.any_write_between(a.c, a.s);
}

bool check_load(Thread const& t, Cell const& x, Violation& v) {
    Awareness a;
    if (!differ(t, x, a)) return false;
    describe(t, x, a, v);
    v.has_value = true;
    v.could = v.known.value;
    v.certain = false;
    x.any_between(a.c, a.s, [&](std::uint64_t value, bool) {
        v.stale[v.stale_count++] = value;
        return v.stale_count == Violation::most_stale;
    });
    return true;
}

bool check_write(Thread const& t, Cell const& x, Violation& v) {
    Awareness a;
    if (!differ(t, x, a) || !x.any_store_between(a.c, a.s)) return false;
    describe(t, x, a, v);
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

// SC before C: once a time is in C, others conclude that the thread will not ask for it any more.
void read_part(Thread& t, Cell& x, bool acquire, AccessSite site) {
    if (!ready_for_step(t)) return;
    learn_write(t, x, site);
    acquire_message(t, x, acquire);
    if (!x.knows_newest(t.current)) {
        take_step(t);
        x.add_knower(t.slot, t.time);
    }
    add_reader(t, x, site);
}

void write_part(Thread& t, Cell& x, std::uint64_t value, bool release, AccessSite site) {
    if (!ready_for_step(t)) return;
    learn_accesses(t, x, site);
    add_write(t, x, value, site);
    leave_message(t, x, release);
}

void rmw_parts(Thread& t, Cell& x, std::uint64_t value, bool acquire, bool release, AccessSite site) {
    if (!ready_for_step(t)) return;
    learn_accesses(t, x, site);
    bool const knows_message = acquire_message(t, x, acquire);
    x.keep_message();
    add_write(t, x, value, site);
    if (release && knows_message)
        leave_message(t, x, release);
    else if (Stamp const stamp = release ? x.written : t.release; stamp.time() != 0)
        add_message(x, stamp);
}

void acquire_fence(Thread& t) {
    if (join(t.current, t.acquire, clock_width)) learned(t);
}

void release_fence(Thread& t) {
    if (ready_for_step(t)) t.release = stamp_of(t);
}

void start_fences() {
    fence_location.message = fence_location.own_clocks;
    fence_location.sc = fence_location.own_clocks + FenceLocation::own_width;
    fence_location.width = FenceLocation::own_width;
}

// For as many threads as there may ever be.
void FenceLocation::widen() {
    for (Time** clock : {&message, &sc}) {
        auto* const wide = static_cast<Time*>(memory::pages(options.threads_limit * sizeof(Time)));
        copy(wide, *clock, width);
        *clock = wide;
    }
    width = options.threads_limit;
}

// After it C, A, R and the fences' message are all A ⊔ W[f], and SC is that of the fences. If neither has
// changed since this thread's last one, they still are. Under the lock, which all threads want, the thread
// only tells what it knows and takes along what was there, to learn it afterwards. It tells a new time: who
// knows that from the fences knows also what was there before, and so all that the thread will have learned.
void sc_fence(Thread& t, std::uintptr_t pc) {
    FenceLocation& f = fence_location;
    if (!t.changed && t.fence_version == __atomic_load_n(&f.version, __ATOMIC_ACQUIRE)) return;
    if (!ready_for_step(t)) return;
    AccessAt const site{pc, t.id, Access::fence, Order::seq_cst};
    AccessAt from;
    std::uint32_t width;
    bool const tells = t.changed;
    if (tells) let_time_go_on(t);
    {
        Locked held(f.lock);
        width = clock_width;
        if (f.width < width) f.widen();
        from = f.last;
        copy(t.fences_message, f.message, width);
        copy(t.fences_sc, f.sc, width);
        if (tells) {
            join(f.message, t.acquire, width);
            join(f.sc, t.sc, width);
            f.last = site;
            __atomic_store_n(&f.version, f.version + 1, __ATOMIC_RELEASE);
        }
        t.fence_version = f.version;
    }
    if (ahead(t.fences_sc, t.sc, width)) {
        learn_by(t.provenance, {now_in_ticks(), 0, from, site, true}, t.sc, t.fences_sc, width);
        t.has_learned = true;
    }
    join(t.acquire, t.fences_message, width);
    acquire_fence(t);
    if (t.has_learned && tells) make_record(t);
    release_fence(t);
    t.changed = false;
}

void acquire_from(Thread& t, Cell const& x) {
    Object& object = *x.object;
    if (ahead(object.sc(), t.sc, object.width)) {
        AccessAt const from{0, object.last_releaser, Access::synchronisation, Order::release};
        AccessAt const to{0, t.id, Access::synchronisation, Order::acquire};
        learn_by(t.provenance, {now_in_ticks(), x.address(), from, to, true}, t.sc, object.sc(),
                 object.width);
        learned(t);
    }
    if (join(t.acquire, object.current(), object.width)) learned(t);
    if (join(t.current, object.current(), object.width)) learned(t);
}

void release_to(Thread& t, Cell& x) {
    Object& object = *x.object;
    object.widen();
    join(object.current(), t.current, object.width);
    join(object.sc(), t.sc, object.width);
    object.last_releaser = t.id;
}

}  // namespace fencepost
