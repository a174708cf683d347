// What an exploration tells as JSON lines: executions that showed something, how far it has come, and how it
// ended. Findings are written by the executions themselves, before the line of their execution.
#include "sanitizer/report/findings.hpp"
#include "sanitizer/report/json.hpp"
#include "sanitizer/schedule/scheduler.hpp"
#include "sanitizer/system/options.hpp"
#include "sanitizer/system/text.hpp"

namespace fencepost::scheduler {
namespace {

void put_untried(Text& out, std::uint32_t untried) {
    constexpr char const* names[] = {"draws",   "time-limits",  "clocks",          "outside",
                                     "signals", "many-threads", "initialisations", "parts"};
    char const* comma = "";
    for (std::uint32_t i = 0; i < std::size(names); ++i) {
        if ((untried >> i & 1) == 0) continue;
        out << comma << "\"" << names[i] << "\"";
        comma = ",";
    }
}

void put_step(Text& out, char const* name, Event const* event) {
    constexpr char const* acts[] = {"nothing", "load", "store", "rmw", "cas", "call", "end", "choice"};
    if (event == nullptr || event->act == Act::nothing) return;
    out << ",\"" << name << "\":{\"thread\":" << event->thread << ",\"what\":\""
        << acts[static_cast<int>(event->act)] << "\",\"stack\":";
    Stack stack{};
    if (event->pc != 0) stack.frames[stack.count++] = event->pc;
    put_stack(out, stack);
    out << "}";
}

}  // namespace

void execution_begins() {
    findings_in_execution();
}

void run_begins(bool tells) {
    findings_in_run();
    if (!tells) write_no_json();
}

std::uint64_t events_so_far() {
    return size_of_json();
}

void prepare_reports(std::uint32_t walks) {
    open_json_of_walks(walks);
}

void report_as_walk(std::uint32_t number) {
    write_json_of_walk(number);
}

void report_nothing() {
    write_json_of_walk(UINT32_MAX);
    options.quiet = true;
}

void copy_reports(Text& into) {
    copy_json(into, "{\"event\":\"exploration\"");
}

void repeat_reports(std::string_view text) {
    Text lines;
    lines << text;
    write_json(lines);
}

void report_not_resumed(std::string_view why) {
    Text out;
    out << "{\"event\":\"not-resumed\",\"why\":" << Quoted{why} << "}\n";
    write_json(out);
}

void report_not_saved() {
    Text out;
    out << "{\"event\":\"not-saved\"}\n";
    write_json(out);
}

void report_execution(ExecutionReport const& report) {
    Text out;
    out << "{\"event\":\"execution\",\"number\":" << report.number << ",\"exit\":" << report.exit_code
        << ",\"signal\":" << report.signal << ",\"trouble\":" << Quoted{report.trouble}
        << ",\"decisions\":" << Quoted{report.decisions} << ",\"output\":" << Quoted{report.output} << "}\n";
    write_json(out);
}

void report_exploration(ExplorationReport const& report, bool at_end) {
    Text out;
    out << "{\"event\":\"exploration\",\"at_end\":" << (at_end ? "true" : "false")
        << ",\"executions\":" << report.executions << ",\"in_vain\":" << report.in_vain
        << ",\"cut\":" << report.cut << ",\"bounded\":" << report.bounded << ",\"steps\":" << report.steps
        << ",\"atomics\":" << report.atomics
        << ",\"millionths\":" << static_cast<std::uint64_t>(report.share * 1e6)
        << ",\"why\":" << Quoted{report.why} << ",\"untried\":[";
    put_untried(out, report.untried);
    out << "]";
    put_step(out, "wanted", report.wanted);
    put_step(out, "met", report.met);
    out << "}\n";
    write_json(out);
}

}  // namespace fencepost::scheduler
