#include "sanitizer/system/options.hpp"

#include "sanitizer/system/settings.hpp"
#include "sanitizer/system/syscalls.hpp"
#include "sanitizer/system/text.hpp"

namespace fencepost {

Options options;

namespace {

bool set_flag(std::string_view value, bool& into) {
    if (value == "0" || value == "1") into = value == "1";
    return value == "0" || value == "1";
}

template <class Number>
bool set_number(std::string_view value, Number& into) {
    std::uint64_t number = 0;
    if (!parse_number(value, number)) return false;
    into = static_cast<Number>(number);
    return true;
}

bool set_path(std::string_view value, char const*& into) {
    if (!value.empty()) into = keep(value);
    return !value.empty();
}

bool set_schedule(std::string_view value) {
    if (value != "os" && value != "random" && value != "pct" && value != "explore") return false;
    options.schedule.kind = value == "os"       ? scheduler::Kind::os
                            : value == "random" ? scheduler::Kind::random
                            : value == "pct"    ? scheduler::Kind::pct
                                                : scheduler::Kind::explore;
    options.schedule_name = keep(value);
    return true;
}

bool set_switch(std::string_view value) {
    options.schedule.futexes = value == "futex";
    return value == "futex" || value == "auto";
}

bool set_volatile(std::string_view value) {
    options.volatile_relaxed = value == "relaxed";
    return value == "relaxed" || value == "plain";
}

bool set_sc_fences(std::string_view value) {
    options.schedule.sc_fences_commute = value == "commute";
    return value == "commute" || value == "ordered";
}

bool set_restart(std::string_view value) {
    using Restart = scheduler::Settings::Restart;
    if (value != "auto" && value != "fork" && value != "memory") return false;
    options.schedule.restart = value == "auto"   ? Restart::automatic
                               : value == "fork" ? Restart::fork
                                                 : Restart::memory;
    return true;
}

bool set_log_path(std::string_view value) {
    if (!value.empty()) options.log_path = value == "stderr" ? nullptr : keep(value);
    return !value.empty();
}

enum class Setting { done, bad_value, unknown };

Setting set(std::string_view name, std::string_view value) {
    auto const result = [](bool good) { return good ? Setting::done : Setting::bad_value; };
    if (name == "halt_on_error") return result(set_flag(value, options.halt_on_error));
    if (name == "exitcode") return result(set_number(value, options.exitcode));
    if (name == "log_path") return result(set_log_path(value));
    if (name == "quiet") return result(set_flag(value, options.quiet));
    if (name == "json") return result(set_path(value, options.json));
    if (name == "suppressions") return result(set_path(value, options.suppressions));
    if (name == "sites") return result(set_path(value, options.sites));
    if (name == "list_sites") return result(set_flag(value, options.list_sites));
    if (name == "internals") return result(set_flag(value, options.internals));
    if (name == "max_findings") return result(set_number(value, options.max_findings));
    if (name == "await_loops") return result(set_flag(value, options.await_loops));
    if (name == "volatile") return result(set_volatile(value));
    if (name == "history") return result(set_number(value, options.history));
    if (name == "threads_limit") return result(set_number(value, options.threads_limit));
    if (name == "run_by") return result(set_number(value, options.run_by));
    if (name == "schedule") return result(set_schedule(value));
    if (name == "seed") return result(set_number(value, options.schedule.seed));
    if (name == "depth") return result(set_number(value, options.schedule.depth));
    if (name == "steps") return result(set_number(value, options.schedule.steps));
    if (name == "length") return result(set_number(value, options.schedule.length));
    if (name == "stall") return result(set_number(value, options.schedule.stall));
    if (name == "switch") return result(set_switch(value));
    if (name == "decisions") return result(set_path(value, options.schedule.decisions));
    if (name == "replay") return result(set_path(value, options.schedule.replay));
    if (name == "weak") return result(set_flag(value, options.schedule.weak));
    if (name == "weak_from") return result(set_number(value, options.schedule.weak_from));
    if (name == "weak_seed") return result(set_number(value, options.schedule.weak_seed));
    if (name == "weak_reads") return result(set_number(value, options.schedule.weak_reads));
    if (name == "executions") return result(set_number(value, options.schedule.executions));
    if (name == "seconds") return result(set_number(value, options.schedule.seconds));
    if (name == "rounds") return result(set_number(value, options.schedule.rounds));
    if (name == "failing") return result(set_number(value, options.schedule.failing));
    if (name == "bound") return result(set_number(value, options.schedule.bound));
    if (name == "first") return result(set_flag(value, options.schedule.first));
    if (name == "runs") return result(set_number(value, options.schedule.runs));
    if (name == "stride")
        return result(set_number(value, options.schedule.stride) && options.schedule.stride != 0);
    if (name == "first_run") return result(set_number(value, options.schedule.first_run));
    if (name == "run_limit") return result(set_number(value, options.schedule.run_limit));
    if (name == "output") return result(set_path(value, options.output));
    if (name == "resume") return result(set_path(value, options.schedule.resume));
    if (name == "walks") return result(set_number(value, options.schedule.walks));
    if (name == "restart") return result(set_restart(value));
    if (name == "sc_fences") return result(set_sc_fences(value));
    return Setting::unknown;
}

void read_setting(SettingText const& setting) {
    auto const [name, value] = setting;
    Setting const outcome = set(name, value);
    if (outcome == Setting::done) return;
    Text warning;
    warning << "fencepost: FENCEPOST_OPTIONS: "
            << (outcome == Setting::unknown ? "no option is called " : "bad value of ") << Quoted{name};
    if (outcome == Setting::bad_value) warning << ": " << Quoted{value};
    warning << "\n";
    warning.write_to(2);
}

}  // namespace

void read_options(char** environment) {
    for_settings(environment, read_setting);
    for (char** each = environment; each != nullptr && *each != nullptr; ++each) {
        std::string_view const text(*each);
        constexpr std::string_view log = "log_path=";
        options.thread_sanitizer_has_log |=
            text.starts_with("TSAN_OPTIONS=") && text.find(log) != std::string_view::npos;
    }
}

char const* with_numbers(char const* path) {
    Text text;
    for (; *path != '\0'; ++path) {
        if (path[0] == '%' && path[1] == 'p') {
            text << static_cast<std::uint64_t>(kernel::call(SYS_getpid));
            ++path;
        } else if (path[0] == '%' && path[1] == 'r') {
            if (options.run_number < 0)
                text << "before";
            else
                text << static_cast<std::uint64_t>(options.run_number);
            ++path;
        } else {
            text << std::string_view(path, 1);
        }
    }
    return keep(text.view());
}

}  // namespace fencepost
