// ThreadSanitizer's reports as events, for `fencepost run`. It prints them itself; this is called afterwards,
// with locks of ThreadSanitizer held: it must be asked about nothing but the report.
#include <string_view>

#include "sanitizer/core/sc_provenance.hpp"
#include "sanitizer/core/stacks.hpp"
#include "sanitizer/core/threads.hpp"
#include "sanitizer/races/tsan.hpp"
#include "sanitizer/report/findings.hpp"
#include "sanitizer/report/json.hpp"
#include "sanitizer/report/output.hpp"
#include "sanitizer/system/modules.hpp"
#include "sanitizer/system/text.hpp"

using namespace fencepost;

namespace {

// It repeats an address for each function that was inlined there.
Stack as_stack(void* const (&trace)[stack_depth]) {
    Stack stack;
    for (void* const address : trace) {
        auto const pc = reinterpret_cast<std::uintptr_t>(address);
        if (pc == 0) break;
        if (stack.count == 0 || stack.frames[stack.count - 1] != pc) stack.frames[stack.count++] = pc;
    }
    return stack;
}

struct Counts {
    char const* description = "";
    int repetitions = 0, stacks = 0, accesses = 0, locations = 0, mutexes = 0, threads = 0,
        unique_threads = 0;
};

Counts count_parts(void* report) {
    Counts n;
    void* sleep[1];
    __tsan_get_report_data(report, &n.description, &n.repetitions, &n.stacks, &n.accesses, &n.locations,
                           &n.mutexes, &n.threads, &n.unique_threads, sleep, 0);
    return n;
}

struct ThreadOfReport {
    char const* name = nullptr;
    std::uint64_t kernel_thread = 0;  // its number; 0: not known

    ThreadOfReport(void* report, Counts const& n, int wanted) {
        for (int i = 0; i < n.threads; ++i) {
            int thread, running, parent;
            std::uint64_t number;
            char const* its_name = nullptr;
            void* trace[1];
            __tsan_get_report_thread(report, static_cast<std::size_t>(i), &thread, &number, &running,
                                     &its_name, &parent, trace, 0);
            if (thread != wanted) continue;
            name = its_name;
            kernel_thread = number;
        }
    }
};

void put_thread(Text& out, void* report, Counts const& n, int wanted) {
    char const* const name = ThreadOfReport(report, n, wanted).name;
    out << "\"thread\":" << wanted << ",\"name\":" << Quoted{name == nullptr ? "" : name};
}

// What passed last, under SC, from that thread to this one, which makes its access now.
Chain find_chain_from(ThreadOfReport const& other) {
    Thread const* const t = this_thread;
    if (t == nullptr || other.kernel_thread == 0) return {};
    for (Thread const* o = __atomic_load_n(&all_threads, __ATOMIC_ACQUIRE); o != nullptr; o = o->next) {
        bool const is_it = o->state != Thread::State::unused && o != t && o->slot != no_slot &&
                           static_cast<std::uint64_t>(o->tid) == other.kernel_thread;
        if (is_it) return find_last_chain(*t, o->id);
    }
    return {};
}

struct PlainAccess {
    int thread = 0, size = 0, writes = 0, atomic = 0;
    void* address = nullptr;
    void* trace[stack_depth] = {};

    PlainAccess(void* report, std::size_t index) {
        __tsan_get_report_mop(report, index, &thread, &address, &size, &writes, &atomic, trace, stack_depth);
    }
    void put_kind(Text& out) const {
        out << (atomic != 0 ? "\"atomic " : "\"") << (writes != 0 ? "write\"" : "read\"");
    }
    void put_by(Text& out, void* report, Counts const& n) const {
        out << "{";
        put_thread(out, report, n, thread);
        out << ",\"what\":";
        put_kind(out);
        out << ",\"stack\":";
        put_stack(out, as_stack(trace));
        out << "}";
    }
};

void put_location(Text& out, void* report, Counts const& n, void* address) {
    char const* kind = "unknown";
    std::size_t begin = 0, size = 0;
    int thread = 0, descriptor = 0, suppressable = 0;
    void* trace[stack_depth] = {};
    void* global = nullptr;
    if (n.locations > 0)
        __tsan_get_report_loc(report, 0, &kind, &global, &begin, &size, &thread, &descriptor, &suppressable,
                              trace, stack_depth);
    out << "{\"kind\":" << Quoted{kind};
    ModuleOffset const module = find_module(reinterpret_cast<std::uintptr_t>(address));
    if (std::string_view(kind) == "global" && module.module != nullptr) put_module(out << ",", module);
    if (std::string_view(kind) == "heap") out << ",\"size\":" << std::uint64_t{size} << ",\"stack\":";
    if (std::string_view(kind) == "heap") put_stack(out, as_stack(trace));
    if (std::string_view(kind) == "stack" || std::string_view(kind) == "tls") out << ",\"thread\":" << thread;
    out << "}";
}

void put_race(Text& out, void* report, Counts const& n) {
    PlainAccess const by(report, 0), other(report, 1);
    out << "\"race\",\"access\":";
    by.put_kind(out);
    out << ",\"address\":\"" << Hex{reinterpret_cast<std::uintptr_t>(by.address)} << "\",\"size\":" << by.size
        << ",\"by\":";
    by.put_by(out, report, n);
    out << ",\"missed\":";
    other.put_by(out, report, n);
    out << ",\"location\":";
    put_location(out, report, n, by.address);
    put_race_repairs(out, find_chain_from({report, n, other.thread}));
}

// Threads and mutexes that are not used as they should be: the first stack, or where the first thread was
// created.
void put_misuse(Text& out, void* report, Counts const& n) {
    void* trace[stack_depth] = {};
    int thread = 0, running = 0, parent = 0;
    std::uint64_t kernel_thread = 0;
    char const* name = nullptr;
    if (n.threads > 0)
        __tsan_get_report_thread(report, 0, &thread, &kernel_thread, &running, &name, &parent, trace,
                                 stack_depth);
    if (n.stacks > 0) __tsan_get_report_stack(report, 0, trace, stack_depth);
    out << "\"threads\",\"access\":" << Quoted{n.description} << ",\"by\":{";
    put_thread(out, report, n, thread);
    out << ",\"stack\":";
    put_stack(out, as_stack(trace));
    out << "}";
}

}  // namespace

namespace fencepost {

void direct_reports_of_thread_sanitizer(int file) {
    __sanitizer_set_report_fd(reinterpret_cast<void*>(static_cast<std::intptr_t>(file)));
}

}  // namespace fencepost

// More than are wanted are counted, and no more than that.
[[gnu::visibility("default")]] bool __tsan::OnReport(ReportDesc const*, bool suppressed) {
    return suppressed || !count_finding_of_thread_sanitizer();
}

extern "C" [[gnu::visibility("default")]] void __tsan_on_report(void* report) {
    Counts const n = count_parts(report);
    Text out;
    out << "{\"event\":\"finding\",\"pid\":" << process_number() << ",\"schedule\":\"os\",\"kind\":";
    if (n.accesses >= 2)
        put_race(out, report, n);
    else
        put_misuse(out, report, n);
    out << "}\n";
    write_json(out);
}
