#include "sanitizer/report/json.hpp"

#include <new>
#include <utility>

#include "sanitizer/core/await.hpp"
#include "sanitizer/report/data_owner.hpp"
#include "sanitizer/report/findings.hpp"
#include "sanitizer/report/output.hpp"
#include "sanitizer/report/race_findings.hpp"
#include "sanitizer/report/wording.hpp"
#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/modules.hpp"
#include "sanitizer/system/options.hpp"
#include "sanitizer/system/row.hpp"
#include "sanitizer/system/syscalls.hpp"
#include "sanitizer/system/text.hpp"

namespace fencepost {
namespace {

// Of the build.
char const* mode() {
#if defined(FENCEPOST_RACES)
    return program_embeds_image() ? "all" : "races";
#elif defined(FENCEPOST_FULL)
    return embedded_image_runs ? "all" : "full";
#else
    return "atomics";
#endif
}

// Which plain accesses were watched in this run.
char const* plain_accesses_watched() {
#if defined(FENCEPOST_RACES)
    return "all";
#elif defined(FENCEPOST_FULL)
    constexpr char const* words[] = {"none", "all", "part"};
    return words[static_cast<int>(races::watch)];
#else
    return "none";
#endif
}

int file = -1;

// One of many that write to the same file: what has been said is not said again.
bool is_execution() {
    return options.schedule.kind == scheduler::Kind::explore && options.schedule.replay == nullptr;
}

std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (char const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return hash;
}

void put_pc(Text& out, std::uintptr_t pc) {
    std::uintptr_t const address = pc - 1;
    ModuleOffset const place = find_module(address);
    out << "{";
    put_module(out, place.module == nullptr ? ModuleOffset{"", address} : place);
    out << "}";
}

}  // namespace

void put_stack(Text& out, Stack const& stack) {
    out << "[";
    for (std::size_t i = 0; i < stack.count; ++i) {
        if (i != 0) out << ",";
        put_pc(out, stack.frames[i]);
    }
    out << "]";
}

namespace {

void put_thread(Text& out, std::uint32_t id) {
    out << "\"thread\":" << id << ",\"name\":" << Quoted{name_of_thread(id).text};
}

void put_owner(Text& out, std::uintptr_t address, DataOwner const& owner) {
    constexpr char const* kinds[] = {"global", "heap", "stack", "unknown"};
    out << "{\"kind\":\"" << kinds[static_cast<int>(owner.kind)] << "\"";
    if (owner.name != nullptr) out << ",\"name\":" << Quoted{owner.name};
    if (owner.size != 0) out << ",\"size\":" << std::uint64_t{owner.size};
    if (owner.module.module != nullptr) {
        out << ",";
        put_module(out, owner.module);
    }
    if (owner.kind == DataOwner::Kind::stack) out << ",\"thread\":" << owner.thread;
    if (owner.kind == DataOwner::Kind::heap) {
        out << ",\"offset\":\"" << Hex{address - owner.begin} << "\",\"stack\":";
        put_stack(out, kept_stack(owner.allocated_by));
    }
    out << "}";
}

void put_data(Text& out, std::uintptr_t address) {
    put_owner(out, address, find_owner(address));
}

// A global; who else owns the address is not asked.
void put_global(Text& out, std::uintptr_t address) {
    ModuleOffset const place = find_module(address);
    if (place.module == nullptr) {
        out << "{\"kind\":\"unknown\"}";
        return;
    }
    out << "{\"kind\":\"global\",";
    put_module(out, place);
    out << "}";
}

// One end of a link of the chain.
template <class PutData>
void put_event(Text& out, AccessAt const& at, std::uintptr_t address, PutData put_location) {
    out << "{";
    put_thread(out, at.thread);
    out << ",\"order\":\"" << name_of(at.order) << "\",\"what\":\"" << word_for(at.access);
    if (address != 0) out << " " << Hex{address};
    out << "\",\"stack\":[";
    if (at.pc != 0) put_pc(out, at.pc);
    out << "]";
    if (address != 0) {
        out << ",\"location\":";
        put_location(out, address);
    }
    out << "}";
}

template <class PutData>
void put_chain(Text& out, Chain const& chain, PutData put_location) {
    out << "[";
    for (std::size_t i = 0; i < chain.count; ++i) {
        if (i != 0) out << ",";
        put_event(out, chain.links[i].from, chain.links[i].address, put_location);
        out << ",";
        put_event(out, chain.links[i].to, chain.links[i].address, put_location);
    }
    out << "]";
}

void put_repair(Text& out, Repair const& repair) {
    out << "{\"what\":\"" << (repair.fence ? "fence" : "order") << "\",\"order\":\"" << name_of(repair.order)
        << "\"";
    if (repair.thread != both_threads) out << ",\"thread\":" << repair.thread;
    struct {
        char const* name;
        std::uintptr_t pc;
    } const places[] = {{"after", repair.after}, {"before", repair.before}, {"at", repair.at}};
    for (auto const& part : places) {
        if (part.pc == 0) continue;
        out << ",\"" << part.name << "\":";
        put_pc(out, part.pc);
    }
    out << "}";
}

void put_repairs(Text& out, Repairs const& repairs) {
    out << ",\"repair\":[";
    for (std::size_t i = 0; i < repairs.count; ++i) {
        if (i != 0) out << ",";
        put_repair(out, repairs.list[i]);
    }
    out << "]";
}

std::uint64_t identity(Finding const& f) {
    std::uint64_t h = static_cast<std::uint64_t>(f.note.access) + 1;
    for (std::uintptr_t const address : {f.by.pc(), f.missed.pc()})
        h = (h ^ find_module(address).offset) * 0x9e3779b97f4a7c15u;
    return h;
}

void put_accesses(Text& out, Finding const& f) {
    auto const& v = f.violation;
    out << ",\"by\":{";
    put_thread(out, f.thread);
    out << ",\"stack\":";
    put_stack(out, f.by);
    out << "},\"missed\":{";
    put_thread(out, v.missed.thread);
    out << ",\"order\":\"" << name_of(static_cast<Order>(v.missed.order)) << "\",\"what\":\""
        << word_for(v.missed.is_rmw() ? Access::rmw : Access::store) << "\",\"value\":" << v.missed.value
        << ",\"stack\":";
    put_stack(out, f.missed);
    out << "},\"could\":";
    if (v.has_value)
        out << "{\"value\":" << v.could << "}";
    else
        out << "null";
}

// For a doubtful finding: its pc, and the values of which one must end the wait if it is a finding.
void put_doubt(Text& out, Finding const& f) {
    if (!f.doubtful) {
        out << "null";
        return;
    }
    out << "{\"at\":";
    put_pc(out, f.by.pc());
    out << ",\"values\":[";
    for (std::uint32_t i = 0; i < f.violation.stale_count; ++i)
        out << (i == 0 ? "" : ",") << f.violation.stale[i];
    out << "],\"complete\":" << (f.violation.stale_count < Violation::most_stale ? "true" : "false") << "}";
}

}  // namespace

void put_race_repairs(Text& out, Chain const& chain) {
    out << ",\"chain\":";
    put_chain(out, chain, put_global);
    put_repairs(out, find_race_repairs(chain));
}

// Where there is no room, the file loses the right to be written: that takes no room, and tells its readers
// that something is missing.
void write_json(Text const& line) {
    if (file < 0 || line.write_to(file)) return;
    kernel::call(SYS_fchmod, file, 0444);
    static bool told;
    if (options.quiet || std::exchange(told, true)) return;
    Text warning;
    warning << "fencepost: cannot write all events to " << options.json << "\n";
    warning.write_to(2);
}

void write_no_json() {
    file = -1;
}

std::uint64_t size_of_json() {
    long const end = file < 0 ? 0 : kernel::call(SYS_lseek, file, 0, SEEK_END);
    return kernel::failed(end) ? 0 : static_cast<std::uint64_t>(end);
}

void open_json() {
    if (options.json == nullptr) return;
    if (file >= 0) kernel::call(SYS_close, file);
    file = open_output(options.json);
}

namespace {

Row<int>* files_of_walks;
long first_process;  // that opened them

// As they were opened.
char const* path_of_walk(std::uint32_t walk) {
    Text path;
    char const* const pattern = options.json;
    for (char const* at = pattern; *at != '\0'; ++at) {
        if (at[0] == '%' && at[1] == 'p') {
            path << static_cast<std::uint64_t>(first_process);
            ++at;
        } else {
            path << std::string_view(at, 1);
        }
    }
    if (walk != 0) path << "." << walk << ".jsonl";
    return keep(path.view());
}

}  // namespace

void open_json_of_walks(std::uint32_t count) {
    files_of_walks = new (memory::pages(sizeof *files_of_walks)) Row<int>;
    files_of_walks->add(file);
    first_process = kernel::call(SYS_getpid);
    for (std::uint32_t walk = 1; walk < count && options.json != nullptr; ++walk)
        files_of_walks->add(open_output(path_of_walk(walk)));
}

void write_json_of_walk(std::uint32_t walk) {
    file = walk < files_of_walks->size() ? (*files_of_walks)[walk] : -1;
}

void copy_json(Text& into, std::string_view without) {
    for (std::uint32_t walk = 0; walk < files_of_walks->size() && options.json != nullptr; ++walk) {
        Text all;
        read_file(path_of_walk(walk), all);
        for (std::string_view rest = all.view(); !rest.empty();) {
            std::size_t const end = rest.find('\n');
            std::string_view const line(rest.data(), end < rest.size() ? end + 1 : rest.size());
            if (!line.starts_with(without)) into << line;
            rest.remove_prefix(line.size());
        }
    }
}

void json_finding(Finding const& f) {
    if (file < 0) return;
    Text out;
    out << "{\"event\":\"finding\",\"kind\":\"robustness\",\"access\":\"" << name_of(f.note.access)
        << "\",\"id\":\"" << Hex{identity(f)} << "\",\"pid\":" << process_number() << ",\"address\":\""
        << Hex{f.note.address} << "\",\"size\":" << std::uint32_t{f.note.size} << ",\"order\":\""
        << name_of(f.note.order) << "\"";
    if (f.note.has_value) out << ",\"value\":" << f.note.value;
    put_accesses(out, f);
    out << ",\"chain\":";
    put_chain(out, f.chain, put_data);
    out << ",\"location\":";
    put_owner(out, f.note.address, find_owner(f.note.address, f.block));
    put_repairs(out, f.repairs.first);
    out << ",\"unless_await\":";
    put_doubt(out, f);
    out << ",\"step\":" << f.step << ",\"seed\":" << options.schedule.seed << ",\"schedule\":\""
        << options.schedule_name << "\"}\n";
    write_json(out);
}

// An exploration meets a finding in many executions, and tells of one.
void json_uses(Finding const& f) {
    if (file < 0 || is_execution()) return;
    Text out;
    out << "{\"event\":\"uses\",\"id\":\"" << Hex{identity(f)} << "\",\"times\":" << f.uses.times
        << ",\"same\":" << f.uses.same << ",\"compared\":" << f.uses.compared
        << ",\"tried\":" << f.repairs.tried << ",\"forgotten\":" << f.repairs.forgotten << "}\n";
    write_json(out);
}

// An exploration tells of each finding once, but of all repairs.
void json_repairs(Finding const& f) {
    if (file < 0 || !(f.repairs.extended || is_execution())) return;
    Text out;
    out << "{\"event\":\"repairs\",\"id\":\"" << Hex{identity(f)} << "\"";
    put_repairs(out, f.repairs.all);
    out << "}\n";
    if (scheduler::is_news(hash_of(out.view()))) write_json(out);
}

void json_old_read(Thread const& t, AccessNote const& note, std::uint64_t newest,
                   weak::MissedWrites const& missed) {
    if (file < 0) return;
    Text out;
    out << "{\"event\":\"old-read\",\"step\":" << scheduler::steps() << ",\"by\":{";
    put_thread(out, t.id);
    out << ",\"order\":\"" << name_of(note.order) << "\",\"what\":\"" << name_of(note.access)
        << "\",\"stack\":";
    put_stack(out, walk_stack(t, note.frame, stack_depth));
    out << ",\"location\":";
    put_data(out, note.address);
    out << "},\"missed\":[";
    for (std::uint32_t i = 0; i < missed.count; ++i) {
        if (i != 0) out << ",";
        put_stack(out, kept_stack(missed.stack[i]));
    }
    out << "]";
    if (note.has_value) out << ",\"value\":" << note.value << ",\"newest\":" << newest;
    out << "}\n";
    write_json(out);
}

void json_race(RaceFinding const& f) {
    if (file < 0) return;
    Text out;
    auto const put_side = [&](RaceSide const& side) {
        out << "{";
        put_thread(out, side.thread);
        out << ",\"what\":\"" << side.what() << "\",\"stack\":";
        put_stack(out, side.stack);
        out << "}";
    };
    out << "{\"event\":\"finding\",\"kind\":\"race\",\"access\":\"" << f.by.what()
        << "\",\"pid\":" << process_number() << ",\"address\":\"" << Hex{f.address}
        << "\",\"size\":" << std::uint64_t{f.size} << ",\"by\":";
    put_side(f.by);
    out << ",\"missed\":";
    put_side(f.other);
    out << ",\"location\":";
    put_data(out, f.address);
    put_race_repairs(out, f.chain);
    out << ",\"seed\":" << options.schedule.seed << ",\"schedule\":\"" << options.schedule_name << "\"}\n";
    write_json(out);
}

void json_crash(Thread const& t, int signal, std::uintptr_t address, Stack const& stack) {
    if (file < 0) return;
    Text out;
    out << "{\"event\":\"crash\",\"signal\":" << std::int32_t{signal} << ",\"address\":\"" << Hex{address}
        << "\",\"by\":{";
    put_thread(out, t.id);
    out << ",\"stack\":";
    put_stack(out, stack);
    out << "}}\n";
    write_json(out);
}

void json_deadlock(scheduler::Blocked const* threads, std::size_t count) {
    if (file < 0) return;
    Text out;
    out << "{\"event\":\"deadlock\",\"threads\":[";
    for (std::size_t i = 0; i < count; ++i) {
        out << (i == 0 ? "{" : ",{");
        put_thread(out, threads[i].thread);
        out << ",\"blocked_on\":" << Quoted{threads[i].on_what};
        if (threads[i].owner != scheduler::no_thread) out << ",\"owner\":" << threads[i].owner;
        if (std::string_view(threads[i].on_what) != end_of_a_thread) {
            out << ",\"location\":";
            put_global(out, reinterpret_cast<std::uintptr_t>(threads[i].object));
        }
        out << ",\"stack\":";
        put_stack(out, stack_of(threads[i]));
        out << "}";
    }
    out << "]}\n";
    if (scheduler::is_news(hash_of(out.view()))) write_json(out);
}

void json_step_limit(std::uint64_t steps) {
    if (file < 0) return;
    Text out;
    out << "{\"event\":\"step-limit\",\"steps\":" << steps << "}\n";
    write_json(out);
}

void json_no_schedules() {
    if (file < 0) return;
    Text out;
    out << "{\"event\":\"no-schedules\"}\n";
    write_json(out);
}

void json_site(SiteKind kind, std::uintptr_t pc, Order order, Order failure) {
    if (file < 0) return;
    Text out;
    out << "{\"event\":\"site\",\"at\":";
    put_pc(out, pc);
    out << ",\"operation\":\"" << name_of(kind) << "\",\"order\":\"" << name_of(order) << "\"";
    if (kind == SiteKind::compare_exchange) out << ",\"failure\":\"" << name_of(failure) << "\"";
    out << "}\n";
    write_json(out);
}

void json_bad_sites(std::uint64_t line, std::string_view why) {
    if (file < 0) return;
    Text out;
    out << "{\"event\":\"bad-sites\",\"file\":" << Quoted{options.sites} << ",\"line\":" << line
        << ",\"why\":" << Quoted{why} << "}\n";
    write_json(out);
}

void json_end(std::uint64_t findings, std::uint64_t repeated, int exit_code) {
    if (file < 0) return;
    std::uint64_t atomics = 0;
    for (Thread* t = all_threads; t != nullptr; t = t->next) atomics += t->atomics;
    Text out;
    json_awaits(out);
    if (is_execution()) {
        scheduler::count_atomics(atomics);
        out << "{\"event\":\"end\",\"mode\":\"" << mode() << "\",\"plain\":\"" << plain_accesses_watched()
            << "\"}\n";
        if (!out.view().empty() && scheduler::is_new_line(hash_of(out.view()))) write_json(out);
        return;
    }
    out << "{\"event\":\"end\",\"mode\":\"" << mode() << "\",\"pid\":" << process_number()
        << ",\"findings\":" << findings << ",\"repeated\":" << repeated << ",\"atomics\":" << atomics
        << ",\"steps\":" << scheduler::steps() << ",\"plain\":\"" << plain_accesses_watched()
        << "\",\"exit\":" << exit_code << "}\n";
    write_json(out);
}

}  // namespace fencepost
