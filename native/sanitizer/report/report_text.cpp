#include "sanitizer/report/report_text.hpp"

#include <fcntl.h>

#include "sanitizer/report/data_owner.hpp"
#include "sanitizer/report/findings.hpp"
#include "sanitizer/report/output.hpp"
#include "sanitizer/report/race_findings.hpp"
#include "sanitizer/report/symbols.hpp"
#include "sanitizer/report/wording.hpp"
#include "sanitizer/system/options.hpp"
#include "sanitizer/system/syscalls.hpp"
#include "sanitizer/system/text.hpp"

namespace fencepost {
namespace {

constexpr char const* rule = "==================\n";
int file = 2;

void put_thread(Text& out, std::uint32_t id, bool named = true, bool capital = false) {
    if (id == 0)
        out << (capital ? "Main thread" : "main thread");
    else
        out << (capital ? "Thread T" : "thread T") << id;
    ThreadName const known = name_of_thread(id);
    std::string_view const name(known.text);
    if (named && !name.empty() && (id != 0 || name != "main")) out << " '" << name << "'";
}

void put_module(Text& out, std::uintptr_t pc) {
    ModuleOffset const where = find_module(pc - 1);
    char const* const module = where.module == nullptr ? "??" : where.module;
    out << module + (std::string_view(module).rfind('/') + 1) << "+"
        << Hex{where.module == nullptr ? pc - 1 : where.offset};
}

// The position in the source, relative to the current directory if it lies in it.
void put_position(Text& out, Symbol const& s) {
    std::string_view line(s.line);
    char directory[4096];
    long const length = kernel::call(SYS_getcwd, directory, sizeof directory);  // with its zero
    if (length > 1) {
        directory[length - 1] = '/';
        std::string_view const inside(directory, static_cast<std::size_t>(length));
        if (line.starts_with(inside)) line.remove_prefix(inside.size());
    }
    out << line;
    if (s.column != nullptr && std::string_view(s.column) != ":0") out << s.column;
}

void put_source_line(Text& out, std::string_view line) {
    for (char const& c : line) {
        auto const byte = static_cast<unsigned char>(c);
        if (c == '\t')
            out << "    ";
        else if (byte < 0x10)
            out << "\\x0" << std::string_view("0123456789abcdef" + byte, 1);
        else if (byte < 0x20 || byte == 0x7f)
            out << "\\x" << std::string_view("0123456789abcdef" + byte / 16, 1)
                << std::string_view("0123456789abcdef" + byte % 16, 1);
        else
            out << std::string_view(&c, 1);
    }
}

std::size_t digits_of(std::uint64_t number) {
    std::size_t digits = 1;
    while (number /= 10) ++digits;
    return digits;
}

// The line of the source with those before and after it, if the file can be read. The same as `source_lines`
// in answer/explain.py.
void put_source(Text& out, Symbol const& s) {
    std::string_view const position(s.line);
    std::size_t const colon = position.rfind(':');
    std::uint64_t wanted = 0;
    if (colon == position.npos) return;
    if (!parse_number({position.data() + colon + 1, position.size() - colon - 1}, wanted) || wanted == 0)
        return;
    Text source;
    if (!read_file(keep({position.data(), colon}), source)) return;
    std::uint64_t number = 1;
    std::string_view rest = source.view();
    for (; !rest.empty() && number <= wanted + 1; ++number) {
        std::size_t const end = rest.find('\n');
        std::string_view line(rest.data(), end < rest.size() ? end : rest.size());
        rest.remove_prefix(end < rest.size() ? end + 1 : rest.size());
        if (number + 1 < wanted) continue;
        while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r'))
            line.remove_suffix(1);
        out << (number == wanted ? "      > " : "        ");
        for (std::size_t i = digits_of(number); i < digits_of(wanted + 1); ++i) out << " ";
        out << number << (line.empty() ? " |" : " | ");
        put_source_line(out, line);
        out << "\n";
    }
}

// With the source at the innermost frame of the program, or without.
void put_stack(Text& out, Stack const& stack, bool with_source = true) {
    Frames const frames = frames_of(stack.frames, stack.count);
    for (std::size_t i = 0; i < frames.count; ++i) {
        Symbol const& s = *frames.list[i].symbol;
        out << "    #" << std::uint64_t{i} << " "
            << (s.function == nullptr ? "<unknown function>" : s.function) << " ";
        if (s.line != nullptr) {
            put_position(out, s);
            out << " ";
        }
        out << "(";
        put_module(out, frames.list[i].pc);
        out << ")\n";
        if (!with_source || s.line == nullptr || comes_with_the_compiler(s.line)) continue;
        put_source(out, s);
        with_source = false;
    }
    if (stack.count == 0) out << "    (the stack is not known)\n";
}

// The position of a return address, or its module.
void put_place(Text& out, std::uintptr_t pc) {
    Symbol const& s = of_the_program(*symbol_at(pc));
    if (s.line != nullptr)
        put_position(out, s);
    else
        put_module(out, pc);
}

// The same; for a wrapper also where it is called.
void put_line(Text& out, std::uintptr_t pc) {
    put_place(out, pc);
    if (Symbol const* const caller = caller_of_wrapper(of_the_program(*symbol_at(pc)))) {
        out << ", called at ";
        put_position(out, *caller);
    }
}

// A paragraph, in lines that are not too long.
void put_paragraph(Text& out, std::string_view text) {
    constexpr std::size_t width = 98;
    while (!text.empty()) {
        std::size_t end = text.size();
        if (end > width) {
            end = text.rfind(' ', width);
            if (end == text.npos) end = text.find(' ');
            if (end == text.npos) end = text.size();
        }
        out << "  " << std::string_view(text.data(), end) << "\n";
        text.remove_prefix(end < text.size() ? end + 1 : end);
    }
}

void put_location(Text& out, std::uintptr_t address, Block const& block = {}) {
    DataOwner const owner = find_owner(address, block);
    out << "  Location is ";
    switch (owner.kind) {
        case DataOwner::Kind::global:
            out << "global";
            if (owner.name != nullptr) out << " '" << owner.name << "'";
            if (owner.size != 0) out << " of size " << std::uint64_t{owner.size};
            out << " at " << Hex{address} << " (";
            put_module(out, address + 1);
            out << ")\n";
            break;
        case DataOwner::Kind::heap:
            out << "in a heap block of size " << std::uint64_t{owner.size} << " at " << Hex{address}
                << ", allocated at:\n";
            put_stack(out, kept_stack(owner.allocated_by), false);
            break;
        case DataOwner::Kind::stack:
            out << "on the stack of ";
            put_thread(out, owner.thread);
            out << " at " << Hex{address} << "\n";
            break;
        case DataOwner::Kind::unknown:
            out << Hex{address} << "\n";
    }
    out << "\n";
}

// The sentences below are the same as those of `fencepost run`, in answer/explain.py.

bool only_writes(Access access) {
    return access == Access::store || access == Access::rmw;
}

void put_title(Text& out, Finding const& f) {
    out << "not robust: a " << noun_for(f.note.access);
    if (char const* const name = name_of_global(f.note.address))
        out << (f.note.access == Access::store  ? " to `"
                : f.note.access == Access::wait ? " for `"
                                                : " of `")
            << name << "`";
    out << (only_writes(f.note.access) ? " can come before" : " can miss") << " a write that it follows";
}

void put_event(Text& out, AccessAt const& at, std::uintptr_t address) {
    put_thread(out, at.thread);
    out << ": " << word_for(at.access);
    if (char const* const name = address == 0 ? nullptr : name_of_global(address))
        out << " " << name;
    else if (address != 0)
        out << " " << Hex{address};
    if (at.pc == 0) return;
    out << " (";
    put_line(out, at.pc);
    out << ")";
}

void put_consequence(Text& out, Finding const& f) {
    auto const put_stale = [&] {
        if (f.violation.has_value)
            out << "the older value " << f.violation.could;
        else
            out << "an older value";
    };
    switch (f.note.access) {
        case Access::store:
            out << "this store counts as the older of the two, and the other write's value stays";
            break;
        case Access::rmw:
            out << "this operation works on ";
            put_stale();
            out << ", as if that write came after it";
            break;
        case Access::cas:
            out << "this operation compares with ";
            put_stale();
            break;
        case Access::wait:
            out << "this wait ends with ";
            put_stale();
            break;
        default:
            out << "this load returns ";
            put_stale();
    }
}

bool begins_where_it_ended(Link const& link, Link const& before) {
    AccessAt const &from = link.from, &to = before.to;
    return link.address == before.address && from.pc == to.pc && from.thread == to.thread &&
           from.access == to.access;
}

// With a blank before it; nothing if it is empty. An access that ends one link and begins the next is there
// once.
void put_chain(Text& out, Chain const& chain) {
    for (std::size_t i = 0; i < chain.count; ++i) {
        Link const& link = chain.links[i];
        out << (i == 0 ? " (" : "; then ");
        if (i == 0 || !begins_where_it_ended(link, chain.links[i - 1])) {
            put_event(out, link.from, link.address);
            out << "; then ";
        }
        put_event(out, link.to, link.address);
    }
    if (chain.count != 0) out << ")";
}

// The same as `_half_seq_cst` in answer/explain.py.
void put_half_seq_cst(Text& out, char const* noun, Order access, Order write) {
    if ((access == Order::seq_cst) == (write == Order::seq_cst)) return;
    bool const weaker_write = access == Order::seq_cst;
    out << "The " << (weaker_write ? noun : "write") << " is seq_cst, but the "
        << (weaker_write ? "write" : noun) << " is not, so the order of seq_cst operations leaves it out. ";
}

void put_why(Text& out, Finding const& f) {
    char const* const noun = noun_for(f.note.access);
    Text why;
    why << "Why: In every interleaving of this run the " << noun << " comes after that write";
    put_chain(why, f.chain);
    why << ". The memory orders do not ensure it: no chain of release and acquire operations or fences leads "
           "from that write to this "
        << noun << ", so a processor or a compiler may reorder them. ";
    put_half_seq_cst(why, noun, f.note.order, f.violation.missed.order);
    why << "Then ";
    put_consequence(why, f);
    why << ".";
    put_paragraph(out, why.view());
}

void put_repair(Text& out, Repair const& repair) {
    bool const one_thread = repair.thread != both_threads;
    if (one_thread) {
        out << "In ";
        put_thread(out, repair.thread, false);
        out << ", ";
    }
    if (repair.fence) {
        out << (one_thread ? "put" : "Put") << " `atomic_thread_fence(memory_order_" << name_of(repair.order)
            << ")`";
        if (repair.after != 0) {
            out << " after ";
            put_line(out, repair.after);
        }
        if (repair.before != 0) {
            out << (repair.after != 0 ? " and before " : " before ");
            put_line(out, repair.before);
        }
    } else {
        out << (one_thread ? "use" : "Use") << " `memory_order_" << name_of(repair.order)
            << "` for the operation at ";
        put_line(out, repair.at);
    }
    out << ".";
}

// Inlining makes copies of an operation, but there is one change in the source; one that should release in
// one thread and acquire in another should do both. The same as `_repairs` in answer/findings.py.
Repairs without_copies(Repairs const& all) {
    Repairs kept;
    auto const joins = [&](Repair const& repair) {
        for (std::size_t i = 0; i < kept.count; ++i) {
            Repair& known = kept.list[i];
            if (known.fence != repair.fence || !at_same_position(known.at, repair.at) ||
                !at_same_position(known.after, repair.after) ||
                !at_same_position(known.before, repair.before))
                continue;
            if (known.order != repair.order)
                known.order = known.order == Order::seq_cst || repair.order == Order::seq_cst
                                  ? Order::seq_cst
                                  : Order::acq_rel;
            if (known.thread != repair.thread) known.thread = both_threads;
            return true;
        }
        return false;
    };
    for (std::size_t i = 0; i < all.count; ++i)
        if (!joins(all.list[i])) kept.list[kept.count++] = all.list[i];
    return kept;
}

// `last` ends the last sentence.
void put_repairs(Text& out, Repairs const& all, std::string_view last = {}) {
    Repairs const repairs = without_copies(all);
    for (std::size_t i = 0; i < repairs.count; ++i) {
        Text sentence;
        sentence << (i == 0 ? "Repair: " : "And: ");
        put_repair(sentence, repairs.list[i]);
        if (i + 1 == repairs.count) sentence << last;
        if (i == 0) out << "\n";
        put_paragraph(out, sentence.view());
    }
}

// Thread T1 waits for the mutex `a`, which thread T2 holds
void put_wait(Text& out, scheduler::Blocked const& blocked, bool owner_is_there) {
    put_thread(out, blocked.thread, true, true);
    out << " waits for ";
    bool const is_owned = blocked.owner != scheduler::no_thread;
    std::string_view const what(blocked.on_what);
    if (what == end_of_a_thread && is_owned) {
        put_thread(out, blocked.owner, false);
        out << " to end";
        return;
    }
    std::string_view words = what;
    for (Awaited const& one : awaited)
        if (what == one.in_json) words = one.words;
    out << words;
    if (what == end_of_a_thread) return;
    if (char const* const name = name_of_global(reinterpret_cast<std::uintptr_t>(blocked.object)))
        out << " `" << name << "`";
    if (!is_owned) return;
    out << ", which ";
    put_thread(out, blocked.owner, false);
    out << (owner_is_there ? " holds" : " held when it ended");
}

void put_accesses(Text& out, Finding const& f) {
    auto const& v = f.violation;
    char const* const noun = noun_for(f.note.access);
    char const capital[] = {static_cast<char>(noun[0] - 'a' + 'A'), '\0'};
    out << "  " << capital << noun + 1 << " of size " << std::uint32_t{f.note.size} << " at "
        << Hex{f.note.address} << " (memory_order_" << name_of(f.note.order) << ") by ";
    put_thread(out, f.thread);
    out << ":\n";
    put_stack(out, f.by);
    out << "\n  It " << (only_writes(f.note.access) ? "can come before" : "can miss")
        << " the write (memory_order_" << name_of(static_cast<Order>(v.missed.order)) << ") by ";
    put_thread(out, v.missed.thread);
    out << ":\n";
    put_stack(out, f.missed);
    out << "\n";
}

void put_why_it_races(Text& out, RaceFinding const& f) {
    Text why;
    why << "Why: Two threads use the same memory, one of them writes, not both accesses are atomic, and "
           "nothing in C11 orders the two: no mutex, no release write with an acquire read of it, no fences "
           "around such a pair.";
    if (f.chain.count != 0) {
        why << " What passed last from one thread to the other does not order them";
        put_chain(why, f.chain);
        why << ".";
    }
    put_paragraph(out, why.view());
}

// It is not said when the other thread made its access, so the repair has an if.
void put_race_repairs(Text& out, RaceFinding const& f) {
    Repairs const repairs = find_race_repairs(f.chain);
    Text last;
    if (repairs.count == 0) {
        out << "\n";
        last << "Repair: Protect both accesses with the same mutex, or make both atomic; or pass on that the "
                "first is done: after it, write an atomic with `memory_order_release`, and before the second "
                "read that value with `memory_order_acquire`.";
        return put_paragraph(out, last.view());
    }
    AccessAt const& first = f.chain.links[0].from;
    last << " This helps if ";
    put_thread(last, f.other.thread);
    last << " makes its access before the " << word_for(first.access);
    if (first.pc != 0) {
        last << " at ";
        put_line(last, first.pc);
    }
    last << ", or by it. If it comes later, protect both accesses with the same mutex.";
    put_repairs(out, repairs, last.view());
}

void put_race_accesses(Text& out, RaceFinding const& f) {
    char const* const what = f.by.what();
    char const capital[] = {static_cast<char>(what[0] - 'a' + 'A'), '\0'};
    out << "  " << capital << what + 1 << " of size " << std::uint64_t{f.size} << " at " << Hex{f.address}
        << " by ";
    put_thread(out, f.by.thread);
    out << ":\n";
    put_stack(out, f.by.stack);
    out << "\n  It races with the " << f.other.what() << " by ";
    put_thread(out, f.other.thread);
    out << ":\n";
    put_stack(out, f.other.stack);
    out << "\n";
}

// The last line of a finding.
void put_summary(Text& out, char const* verdict, std::uintptr_t pc) {
    out << "SUMMARY: fencepost: " << verdict << " ";
    put_place(out, pc);
    char const* const function = of_the_program(*symbol_at(pc)).function;
    if (function != nullptr) out << " in " << function;
    out << "\n" << rule;
}

// Looks up all symbols of two stacks, a chain, and the allocation of the address.
void symbolise_all(Stack const& by, Stack const& other, Chain const& chain, DataOwner const& owner) {
    std::uintptr_t pcs[3 * stack_depth];
    std::size_t count = 0;
    auto const add = [&](std::uintptr_t pc) {
        if (pc != 0 && count < sizeof pcs / sizeof *pcs) pcs[count++] = pc;
    };
    for (std::size_t i = 0; i < by.count; ++i) add(by.frames[i]);
    for (std::size_t i = 0; i < other.count; ++i) add(other.frames[i]);
    for (std::size_t i = 0; i < chain.count; ++i) {
        add(chain.links[i].from.pc);
        add(chain.links[i].to.pc);
    }
    Stack const allocation = kept_stack(owner.allocated_by);
    for (std::size_t i = 0; i < allocation.count; ++i) add(allocation.frames[i]);
    look_up_symbols(pcs, count);
}

// In mode full a data race is expected to be found. Where it would not have been, that is said.
void put_unwatched([[maybe_unused]] Text& out) {
#if defined(FENCEPOST_FULL)
    if (races::watch == races::Watch::none)
        out << "fencepost: plain accesses were not watched, because there was no schedule "
               "(FENCEPOST_OPTIONS=schedule=random)\n";
    else if (races::watch == races::Watch::part)
        out << "fencepost: plain accesses were watched in part, because a thread did not run under the "
               "schedule\n";
#endif
}

}  // namespace

namespace {

// Unless `fencepost run` collects its reports, or TSAN_OPTIONS says where they go.
void direct_thread_sanitizer() {
#if defined(FENCEPOST_RACES)
    if (options.run_by != 0 || options.thread_sanitizer_has_log) return;
    if (options.quiet)
        direct_reports_of_thread_sanitizer(
            static_cast<int>(kernel::call(SYS_openat, AT_FDCWD, "/dev/null", O_WRONLY | O_CLOEXEC, 0)));
    else if (file != 2)
        direct_reports_of_thread_sanitizer(file);
#endif
}

}  // namespace

void open_text() {
    if (options.log_path != nullptr) {
        if (file > 2) kernel::call(SYS_close, file);
        int const opened = open_output(options.log_path);
        file = opened < 0 ? 2 : opened;
    }
    direct_thread_sanitizer();
}

void symbolise(Finding const& f) {
    symbolise_all(f.by, f.missed, f.chain, find_owner(f.note.address, f.block));
}
void symbolise(RaceFinding const& f) {
    symbolise_all(f.by.stack, f.other.stack, f.chain, find_owner(f.address));
}

void text_race(RaceFinding const& f) {
    if (options.quiet) return;
    symbolise(f);
    Text out;
    out << rule << "WARNING: fencepost: data race\n";
    put_race_accesses(out, f);
    put_location(out, f.address);
    put_why_it_races(out, f);
    put_race_repairs(out, f);
    put_summary(out, "data race", f.by.stack.pc());
    out.write_to(file);
}

void text_finding(Finding const& f) {
    if (options.quiet) return;
    symbolise(f);
    Text out;
    out << rule << "WARNING: fencepost: ";
    put_title(out, f);
    out << "\n";
    put_accesses(out, f);
    put_location(out, f.note.address, f.block);
    put_why(out, f);
    out << "\n  " << can_be_harmless << "\n";
    if (f.repairs.first.count == 0) {
        out << "\n";
        put_paragraph(out, no_repair_known);
    }
    put_repairs(out, f.repairs.first);
    put_summary(out, "not robust", f.by.pc());
    out.write_to(file);
}

void text_repairs(Finding const& f) {
    if (options.quiet) return;
    std::uintptr_t pcs[2 + 3 * Repairs::most] = {f.by.pc(), f.missed.pc()};
    std::size_t count = 2;
    for (std::size_t i = 0; i < f.repairs.all.count; ++i) {
        Repair const& repair = f.repairs.all.list[i];
        for (std::uintptr_t const pc : {repair.at, repair.after, repair.before})
            if (pc != 0) pcs[count++] = pc;
    }
    look_up_symbols(pcs, count);
    Text out;
    out << "fencepost: the " << noun_for(f.note.access) << " at ";
    put_line(out, f.by.pc());
    out << " has come after the write at ";
    put_line(out, f.missed.pc());
    out << " in other ways too, for which the repair was extended:\n";
    put_repairs(out, f.repairs.all);
    out.write_to(file);
}

void text_deadlock(scheduler::Blocked const* threads, std::size_t count) {
    if (options.quiet) return;
    auto const is_blocked = [&](std::uint32_t thread) {
        for (std::size_t i = 0; i < count; ++i)
            if (threads[i].thread == thread) return true;
        return false;
    };
    Text out;
    out << rule << "WARNING: fencepost: deadlock: no thread can go on\n";
    for (std::size_t i = 0; i < count; ++i) {
        out << "  ";
        put_wait(out, threads[i], is_blocked(threads[i].owner));
        out << ":\n";
        Stack const stack = stack_of(threads[i]);
        look_up_symbols(stack.frames, stack.count);
        put_stack(out, stack);
        out << "\n";
    }
    out << "SUMMARY: fencepost: deadlock of ";
    for (std::size_t i = 0; i < count; ++i) {
        if (i != 0) out << ", ";
        put_thread(out, threads[i].thread);
    }
    out << "\n" << rule;
    out.write_to(file);
}

void text_step_limit(std::uint64_t steps) {
    if (options.quiet) return;
    Text out;
    out << "fencepost: given up after " << steps << " steps (FENCEPOST_OPTIONS=steps=…)\n";
    out.write_to(file);
}

void text_end(std::uint64_t findings) {
    if (options.quiet) return;
    Text out;
    put_unwatched(out);
    if (findings != 0)
        out << "fencepost: reported " << findings << (findings == 1 ? " warning" : " warnings")
            << " (pid=" << process_number() << ")\n";
    if (!out.view().empty()) out.write_to(file);
}

}  // namespace fencepost
