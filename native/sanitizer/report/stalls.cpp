// Where the threads of a schedule stand when none has made a step for a while (schedule/watchdog.hpp). It
// goes to the standard error stream, whoever has started the program: perhaps it will never end.
#include "sanitizer/core/stacks.hpp"
#include "sanitizer/core/threads.hpp"
#include "sanitizer/report/symbols.hpp"
#include "sanitizer/schedule/scheduler.hpp"
#include "sanitizer/system/text.hpp"

namespace fencepost::scheduler {
namespace {

constexpr std::size_t most_frames = 6;

Stack stack_of(Standing const& standing) {
    Stack stack;
    if (standing.pc != 0) stack.frames[stack.count++] = standing.pc + 1;  // as if it were a return address
    for (Thread const* t = all_threads; t != nullptr; t = t->next) {
        if (t->id != standing.thread || t->state == Thread::State::unused) continue;
        Stack const callers = walk_stack(*t, standing.frame, stack_depth - 1);
        for (std::size_t i = 0; i < callers.count; ++i) stack.frames[stack.count++] = callers.frames[i];
        break;
    }
    return stack;
}

void put_standing(Text& out, Standing const& standing, bool has_turn) {
    out << "  " << (standing.thread == 0 ? "main thread" : "thread T");
    if (standing.thread != 0) out << standing.thread;
    if (standing.on_what != nullptr)
        out << " waits (" << standing.on_what << "):\n";
    else
        out << (has_turn ? " has its turn:\n" : " could go on:\n");
    Stack const stack = stack_of(standing);
    look_up_symbols(stack.frames, stack.count);
    Frames const frames = frames_of(stack.frames, stack.count);
    for (std::size_t i = 0; i < frames.count && i < most_frames; ++i) {
        Symbol const& symbol = *frames.list[i].symbol;
        out << "    #" << std::uint64_t{i} << " " << (symbol.function != nullptr ? symbol.function : "??");
        if (symbol.line != nullptr) out << " " << symbol.line;
        out << "\n";
    }
}

}  // namespace

void report_stall(std::uint32_t seconds, Standing const* threads, std::size_t count) {
    Text out;
    out << "fencepost: no step was made for " << seconds
        << " seconds: perhaps a thread waits for a variable that is not atomic, or in a library that is not "
           "instrumented (docs/sanitizer.md, \"Programs that hang\")\n";
    for (std::size_t i = 0; i < count; ++i) put_standing(out, threads[i], i == 0);
    out.write_to(2);
}

}  // namespace fencepost::scheduler
