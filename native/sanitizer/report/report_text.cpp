#include "sanitizer/report/report_text.hpp"

#include "sanitizer/report/findings.hpp"
#include "sanitizer/report/output.hpp"
#include "sanitizer/report/places.hpp"
#include "sanitizer/report/symbols.hpp"
#include "sanitizer/report/wording.hpp"
#include "sanitizer/system/options.hpp"
#include "sanitizer/system/text.hpp"

namespace fencepost {
namespace {

constexpr char const* rule = "==================\n";
int file = 2;

void put_thread(Text& out, std::uint32_t id) {
    if (id == 0) {
        out << "main thread";
        return;
    }
    out << "thread T" << id;
    if (ThreadName const name = name_of_thread(id); name.text[0] != '\0') out << " '" << name.text << "'";
}

void put_module(Text& out, std::uintptr_t place) {
    ModulePlace const where = find_module(place - 1);
    out << "(" << (where.module == nullptr ? "??" : where.module) << "+"
        << Hex{where.module == nullptr ? place - 1 : where.offset} << ")";
}

void put_stack(Text& out, Stack const& stack) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < stack.count; ++i) {
        for (Symbol const* s = symbol_at(stack.frames[i]); s != nullptr; s = s->next) {
            out << "    #" << number++ << " " << (s->function == nullptr ? "??" : s->function);
            if (s->line != nullptr) out << " " << s->line;
            out << " ";
            put_module(out, stack.frames[i]);
            out << "\n";
        }
    }
    if (stack.count == 0) out << "    (the stack is not known)\n";
}

// The line of a place, or its function, or its module.
void put_line(Text& out, std::uintptr_t place) {
    Symbol const& s = of_the_program(*symbol_at(place));
    if (s.line != nullptr)
        out << s.line;
    else if (s.function != nullptr)
        out << s.function;
    else
        put_module(out, place);
}

void put_name(Text& out, std::uintptr_t address) {
    char const* const name = name_of_global(address);
    if (name != nullptr)
        out << name;
    else
        out << Hex{address};
}

void put_location(Text& out, std::uintptr_t address) {
    DataPlace const place = find_data(address);
    switch (place.kind) {
        case DataPlace::Kind::global:
            out << "  Location is global '";
            put_name(out, address);
            out << "' at " << Hex{address} << "\n\n";
            break;
        case DataPlace::Kind::heap:
            out << "  Location is in a heap block of " << std::uint64_t{place.size} << " bytes at "
                << Hex{place.begin} << ", " << std::uint64_t{address - place.begin}
                << " bytes from its beginning, "
                << "allocated here:\n";
            put_stack(out, kept_stack(place.allocated_by));
            out << "\n";
            break;
        case DataPlace::Kind::stack:
            out << "  Location is on the stack of ";
            put_thread(out, place.thread);
            out << " at " << Hex{address} << "\n\n";
            break;
        case DataPlace::Kind::unknown:
            out << "  Location is " << Hex{address} << "\n\n";
    }
}

char const* does(Access access) {
    constexpr char const* words[] = {"reads",     "writes",         "reads and writes", "reads and writes",
                                     "waits for", "passes a fence", "synchronises"};
    return words[static_cast<int>(access)];
}

void put_event(Text& out, AccessAt const& at, std::uintptr_t address) {
    out << does(at.access);
    if (address != 0 && at.access != Access::synchronisation) {
        out << " ";
        put_name(out, address);
    }
    if (at.place != 0) {
        out << " at ";
        put_line(out, at.place);
    }
}

void put_why(Text& out, Finding const& f) {
    auto const& chain = f.chain;
    out << "  Why: under sequential consistency the write comes first";
    if (chain.count == 0) {
        out << ", through accesses that are no longer remembered.";
    } else {
        out << ".";
        std::uintptr_t address = f.note.address;
        AccessAt in{f.missed.place(), f.violation.missed.thread, Access::store, Order::relaxed};
        for (std::size_t i = 0; i < chain.count; ++i) {
            Link const& link = chain.links[i];
            out << (i == 0 ? "\n    " : ";\n    ");
            put_thread(out, in.thread);
            out << " ";
            put_event(out, in, address);
            if (link.from.place != in.place || link.address != address) {
                out << ", then ";
                put_event(out, link.from, link.address);
            }
            in = link.to;
            address = link.address;
        }
        out << ";\n    ";
        put_thread(out, in.thread);
        out << " ";
        put_event(out, in, address);
        out << (chain.links[chain.count - 1].reads_from ? ", seeing that" : " after that") << ", then ";
        put_event(out, {f.by.place(), f.thread, f.note.access, f.note.order}, f.note.address);
        out << ".";
    }
    out << "\n    Nothing in the C11 memory model makes the last access see the first.\n\n";
}

void put_repair(Text& out, Repair const& repair) {
    if (!repair.fence) {
        out << "    use memory_order_" << name_of(repair.order) << " at ";
        put_line(out, repair.at);
    } else {
        out << "    atomic_thread_fence(memory_order_seq_cst) ";
        if (repair.after != 0 && repair.before != 0)
            out << "between ";
        else if (repair.after != 0)
            out << "after ";
        else
            out << "before ";
        if (repair.after != 0) put_line(out, repair.after);
        if (repair.after != 0 && repair.before != 0) out << " and ";
        if (repair.before != 0) put_line(out, repair.before);
        out << " (";
        put_thread(out, repair.thread);
        out << ")";
    }
    out << "\n";
}

void put_repairs(Text& out, Finding const& f) {
    out << "  To repair it:\n";
    for (std::size_t i = 0; i < f.repairs.count; ++i) put_repair(out, f.repairs.list[i]);
    out << "\n";
}

void put_accesses(Text& out, Finding const& f) {
    constexpr char const* words[] = {"Atomic load", "Atomic store", "Atomic read-modify-write",
                                     "Atomic compare-and-exchange", "Wait"};
    auto const& v = f.violation;
    out << "  " << words[static_cast<int>(f.note.access)] << " of size " << std::uint32_t{f.note.size} << " ("
        << name_of(f.note.order) << ") at " << Hex{f.note.address} << " by ";
    put_thread(out, f.thread);
    out << ":\n";
    put_stack(out, f.by);
    bool const writes_only = f.note.access == Access::store || f.note.access == Access::rmw;
    out << "\n  can " << (writes_only ? "come before" : "miss") << " the previous write ("
        << name_of(static_cast<Order>(v.missed.order)) << ") by ";
    put_thread(out, v.missed.thread);
    out << ":\n";
    put_stack(out, f.missed);
    out << "\n";
    if (v.has_value && f.note.has_value)
        out << "  It can read " << v.could << " instead of " << v.missed.value << ".\n\n";
}

}  // namespace

void open_text() {
    if (options.log_path == nullptr) return;
    int const opened = open_output(options.log_path);
    file = opened < 0 ? 2 : opened;
}

void symbolise(Finding const& f) {
    std::uintptr_t places[3 * stack_depth];
    std::size_t count = 0;
    auto const add = [&](std::uintptr_t place) {
        if (place != 0 && count < sizeof places / sizeof *places) places[count++] = place;
    };
    for (std::size_t i = 0; i < f.by.count; ++i) add(f.by.frames[i]);
    for (std::size_t i = 0; i < f.missed.count; ++i) add(f.missed.frames[i]);
    for (std::size_t i = 0; i < f.chain.count; ++i) {
        add(f.chain.links[i].from.place);
        add(f.chain.links[i].to.place);
    }
    Stack const allocation = kept_stack(find_data(f.note.address).allocated_by);
    for (std::size_t i = 0; i < allocation.count; ++i) add(allocation.frames[i]);
    look_up_symbols(places, count, f.note.address);
    for (std::size_t i = 0; i < f.chain.count; ++i)
        if (f.chain.links[i].address != 0) look_up_symbols(nullptr, 0, f.chain.links[i].address);
}

void text_finding(Finding const& f) {
    if (options.quiet) return;
    symbolise(f);
    Text out;
    out << rule << "WARNING: Fencepost: robustness violation (pid=" << process_number() << ")\n";
    put_accesses(out, f);
    put_location(out, f.note.address);
    put_why(out, f);
    put_repairs(out, f);
    out << "SUMMARY: Fencepost: robustness violation ";
    put_line(out, f.by.place());
    char const* const function = of_the_program(*symbol_at(f.by.place())).function;
    if (function != nullptr) out << " in " << function;
    out << "\n" << rule;
    out.write_to(file);
}

void text_deadlock(scheduler::Blocked const* threads, std::size_t count) {
    if (options.quiet) return;
    Text out;
    out << rule << "WARNING: Fencepost: deadlock (pid=" << process_number() << "): no thread can go on\n";
    for (std::size_t i = 0; i < count; ++i) {
        out << "  ";
        put_thread(out, threads[i].thread);
        out << " waits for " << threads[i].on_what;
        if (threads[i].owner != scheduler::no_thread) {
            out << ", which is up to ";
            put_thread(out, threads[i].owner);
        }
        out << ":\n";
        Stack const stack = stack_of(threads[i]);
        look_up_symbols(stack.frames, stack.count, 0);
        put_stack(out, stack);
        out << "\n";
    }
    out << "SUMMARY: Fencepost: deadlock of " << std::uint64_t{count} << " threads\n" << rule;
    out.write_to(file);
}

void text_step_limit(std::uint64_t steps) {
    if (options.quiet) return;
    Text out;
    out << "Fencepost: given up after " << steps << " steps (FENCEPOST_OPTIONS=steps=…)\n";
    out.write_to(file);
}

void text_end(std::uint64_t findings) {
    if (options.quiet || findings == 0) return;
    Text out;
    out << "Fencepost: reported " << findings << (findings == 1 ? " warning\n" : " warnings\n");
    out.write_to(file);
}

}  // namespace fencepost
