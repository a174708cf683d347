#include "sanitizer/report/findings.hpp"

#include "sanitizer/core/atomic_methods.hpp"
#include "sanitizer/core/await.hpp"
#include "sanitizer/core/weak_memory.hpp"
#include "sanitizer/report/json.hpp"
#include "sanitizer/report/report_text.hpp"
#include "sanitizer/report/suppressions.hpp"
#include "sanitizer/report/symbols.hpp"
#include "sanitizer/schedule/scheduler.hpp"
#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/options.hpp"
#include "sanitizer/system/text.hpp"

namespace fencepost {
namespace {

using kernel::call;

constexpr std::size_t buckets = 1024;
Lock guard;  // one report at a time
Finding* known[buckets];
Finding* held;
std::uint64_t reported, reported_by_others, repetitions;
bool deadlocked;
bool finished;
long process;  // that the files belong to

struct Key {
    std::uintptr_t by, missed;
    Access access;

    std::size_t bucket() const { return (by * 31 + missed) % buckets; }
    bool is(Finding const& f) const {
        return f.by.pc() == by && f.missed.pc() == missed && f.note.access == access;
    }
};

Finding* look_up(Key const& key) {
    Finding* f = __atomic_load_n(&known[key.bucket()], __ATOMIC_ACQUIRE);
    while (f != nullptr && !key.is(*f)) f = f->next;
    return f;
}

// Would what the access itself has read end a wait, and could it have been an old write of it?
bool certain(AccessNote const& note, Violation const& v) {
    if (v.certain || !options.await_loops) return true;
    for (std::uint32_t i = 0; i < v.stale_count; ++i)
        if (note.has_value && v.stale[i] == note.value) return true;
    return false;
}

bool harmless(Finding const& f) {
    std::uintptr_t pc = f.by.pc();
    if (!is_await(pc) && !options.quiet) pc = find_copy_of(pc, come_from_same_source);
    if (!is_await(pc)) return false;
    for (std::uint32_t i = 0; i < f.violation.stale_count; ++i)
        if (ends_await(pc, f.violation.stale[i])) return false;
    return true;
}

// Do the repairs remove this occurrence too? Else adds what does, if it can be known.
void try_repairs(Finding& f, Thread const& t, AccessNote const& note, Violation const& v, Chain const& chain,
                 Stack const& by) {
    Order const order = static_cast<Order>(v.missed.order);
    AccessAt const missed{f.missed.pc(), v.missed.thread, v.missed.is_rmw() ? Access::rmw : Access::store,
                          order};
    AccessAt const access{by.pc(), t.id, note.access, v.order};
    Tried const tried = try_repairs(f.repairs.all, missed, note.address, chain, access);
    if (tried != Tried::not_known) ++f.repairs.tried;
    if (chain.count == 0) ++f.repairs.forgotten;
    if (tried == Tried::extended) f.repairs.extended = true;
}

Chain chain_of(Thread const& t, AccessNote const& note, Violation const& v) {
    return find_chain(t, v.links, {v.missed.thread, v.missed.slot, v.missed.time, note.address});
}

// The first few occurrences, and then fewer and fewer.
bool is_to_be_tried(std::uint32_t times) {
    return times <= 16 || (times & (times - 1)) == 0;
}

Finding* make(Thread& t, AccessNote const& note, Violation const& v) {
    auto* const f = static_cast<Finding*>(memory::pages(sizeof(Finding)));
    f->note = note;
    f->violation = v;
    f->thread = t.id;
    f->by = walk_stack(t, note.frame, stack_depth);
    f->missed = kept_stack(v.missed.stack);
    f->block = find_block(note.address);
    f->chain = chain_of(t, note, v);
    try_repairs(*f, t, note, v, f->chain, f->by);
    f->repairs.first = f->repairs.all;
    f->repairs.extended = false;
    f->step = scheduler::steps();
    return f;
}

bool reads_same_value(AccessNote const& note, Violation const& v) {
    if (v.stale_count == 0 || v.stale_count == Violation::most_stale || !note.has_value) return false;
    for (std::uint32_t i = 0; i < v.stale_count; ++i)
        if (v.stale[i] != note.value) return false;
    return true;
}

// Which time this is.
std::uint32_t count_use(Thread& t, Finding& f, AccessNote const& note, Violation const& v) {
    std::uint32_t const times = __atomic_add_fetch(&f.uses.times, 1, __ATOMIC_RELAXED);
    t.last_finding.uses = nullptr;
    if (reads_same_value(note, v))
        __atomic_add_fetch(&f.uses.same, 1, __ATOMIC_RELAXED);
    else if ((note.access == Access::load || note.access == Access::cas) && note.has_value)
        t.last_finding = {&f.uses, note.address, note.value, t.atomics};
    return times;
}

// What Python tells findings apart by: a doubtful one may be none, and then says nothing about others.
std::uint64_t hash_of(Finding const& f) {
    std::uint64_t hash = f.by.pc() * 31 + f.missed.pc();
    auto const mix = [&](std::uint64_t word) { hash = (hash ^ word) * 0x9e3779b97f4a7c15u; };
    mix(static_cast<std::uint64_t>(f.note.access));
    for (std::size_t i = 0; i < f.by.count; ++i) mix(f.by.frames[i]);
    for (std::size_t i = 0; i < f.missed.count; ++i) mix(f.missed.frames[i]);
    for (std::uint32_t i = 0; f.doubtful && i < f.violation.stale_count; ++i) mix(f.violation.stale[i] + 1);
    return hash;
}

// The guard is held.
void publish(Finding& f) {
    f.reported = true;
    std::uint64_t const hash = hash_of(f);
    if (scheduler::is_known(hash)) return;  // to look for names takes much longer
    if (is_suppressed(f)) return scheduler::note_known(hash);
    if (!scheduler::is_news(hash) || !count_finding()) return;
    json_finding(f);
    text_finding(f);
    if (options.halt_on_error && !finished) {
        guard.unlock();
        end_if_one_is_enough();
    }
}

void publish_held() {
    for (Finding* f = held; f != nullptr; f = f->next_held)
        if (!f->reported && !harmless(*f)) publish(*f);
    held = nullptr;
}

// What else is known of a finding when the process ends.
void tell_more(Finding const& f) {
    json_uses(f);
    json_repairs(f);
    if (f.repairs.extended) text_repairs(f);
}

}  // namespace

bool count_finding() {
    std::uint64_t const others = __atomic_load_n(&reported_by_others, __ATOMIC_RELAXED);
    return __atomic_add_fetch(&reported, 1, __ATOMIC_RELAXED) + others <= options.max_findings;
}

bool count_finding_of_thread_sanitizer() {
    std::uint64_t const own = __atomic_load_n(&reported, __ATOMIC_RELAXED);
    return __atomic_add_fetch(&reported_by_others, 1, __ATOMIC_RELAXED) + own <= options.max_findings;
}

void count_repetition() {
    __atomic_add_fetch(&repetitions, 1, __ATOMIC_RELAXED);
}

void end_if_one_is_enough() {
    if (!options.halt_on_error || finished) return;
    call(SYS_exit_group, finish_findings(static_cast<int>(options.exitcode)));
}

void start_findings() {
    process = call(SYS_getpid);
    open_json();
    open_text();
    read_suppressions();
}

void report(Thread& t, AccessNote const& note, Violation const& v) {
    if (weak::has_read_old) return;  // the rules are those of runs that keep to the newest writes
    Stack const by = walk_stack(t, note.frame, atomic_methods.count == 0 ? 1 : kept_stack_depth);
    Key const key{by.pc(), kept_pc(v.missed.stack), note.access};
    bool const sure = certain(note, v);
    if (Finding* const f = look_up(key); f != nullptr && (f->reported || !sure)) {
        if (is_to_be_tried(count_use(t, *f, note, v))) {
            Locked one_at_a_time(guard);
            try_repairs(*f, t, note, v, chain_of(t, note, v), by);
        }
        return count_repetition();
    }
    Locked one_at_a_time(guard);
    Finding* f = look_up(key);
    if (f != nullptr) {
        try_repairs(*f, t, note, v, chain_of(t, note, v), by);
    } else {
        f = make(t, note, v);
        f->doubtful = !sure;
        f->next = known[key.bucket()];
        __atomic_store_n(&known[key.bucket()], f, __ATOMIC_RELEASE);
        if (!sure) {
            f->next_held = held;
            held = f;
        }
    }
    count_use(t, *f, note, v);
    if (sure && !f->reported) publish(*f);
}

void note_compared(Thread& t, std::uintptr_t address, std::uint64_t expected) {
    LastFinding const& last = t.last_finding;
    if (t.atomics == last.atomics + 1 && address == last.address && expected == last.value)
        __atomic_add_fetch(&last.uses->compared, 1, __ATOMIC_RELAXED);
    t.last_finding.uses = nullptr;
}

int finish_findings(int exit_code) {
    if (finished || call(SYS_getpid) != process) return exit_code;  // the child of a vfork has our memory
    finished = true;
    scheduler::finish();
    {
        Locked one_at_a_time(guard);
        publish_held();
    }
    for (Finding const* f : known)
        for (; f != nullptr; f = f->next)
            if (f->reported) tell_more(*f);
    json_end(reported, repetitions, exit_code);
    text_end(reported);
    bool const only_counted = reported_by_others != 0 && options.max_findings == 0;
    if ((reported == 0 && !only_counted && !deadlocked) || options.exitcode == 0) return exit_code;
    return static_cast<int>(options.exitcode);
}

void findings_in_execution() {
    process = call(SYS_getpid);
}

void findings_in_run() {
    process = call(SYS_getpid);
    finished = false;
    reported = reported_by_others = repetitions = 0;
    held = nullptr;
    for (Finding*& bucket : known) bucket = nullptr;
}

// Findings of the parent stay the parent's; the child may find them again.
void findings_in_child_of_fork() {
    findings_in_run();
    open_json();
    open_text();
}

}  // namespace fencepost

namespace fencepost::scheduler {

void report_deadlock(Blocked const* threads, std::size_t count) {
    json_deadlock(threads, count);
    text_deadlock(threads, count);
    deadlocked = true;
    end_process(finish_findings(1));
}

void report_step_limit(std::uint64_t count) {
    json_step_limit(count);
    text_step_limit(count);
    end_process(finish_findings(1));
}

void report_no_schedules() {
    constexpr int wrong_use = 2;
    json_no_schedules();
    Text message;
    message << "fencepost: a program built with --mode races has no schedules; rebuild it without that "
               "option, or leave the schedule to the system\n";
    if (!options.quiet) message.write_to(2);
    for (;;) kernel::call(SYS_exit_group, wrong_use);
}

}  // namespace fencepost::scheduler
