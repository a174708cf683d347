#include "sanitizer/hooks/runtime.hpp"

#include <signal.h>
#include <sys/prctl.h>

#include <cstdio>
#include <cstdlib>

#include "sanitizer/core/atomic_methods.hpp"
#include "sanitizer/core/robustness.hpp"
#include "sanitizer/core/threads.hpp"
#include "sanitizer/core/weak_memory.hpp"
#include "sanitizer/hooks/interpose.hpp"
#include "sanitizer/hooks/volatile_accesses.hpp"
#include "sanitizer/races/feed.hpp"
#include "sanitizer/report/findings.hpp"
#include "sanitizer/report/site_file.hpp"
#include "sanitizer/schedule/scheduler.hpp"
#include "sanitizer/system/modules.hpp"
#include "sanitizer/system/options.hpp"
#include "sanitizer/system/syscalls.hpp"

namespace fencepost {
namespace {

bool started;

// The exit code, as the program may change its mind.
int code_at_end(int code) {
    int const wanted = finish_findings(code);
#if defined(FENCEPOST_RACES)
    return wanted;
#else
    bool const failed = wanted != code;
    bool const fails = __tsan_on_finalize(failed) != 0;
    if (fails == failed) return wanted;
    return fails && options.exitcode != 0 ? static_cast<int>(options.exitcode) : code;
#endif
}

// Registered before the program's own handlers and before the destructors of all modules, so it runs last.
void at_end(int code, void*) {
    scheduler::exit_point();
    int const wanted = code_at_end(code);
    if (wanted == code && !scheduler::is_one_of_many()) return;
    fflush(nullptr);
    scheduler::end_process(wanted);
}

// Nobody would wait for the findings, and a program that never ends would go on for ever.
void end_with_parent() {
    using kernel::call;
    if (options.run_by == 0 || call(SYS_getppid) != options.run_by) return;
    call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
    if (call(SYS_getppid) != options.run_by) call(SYS_exit_group, 1);  // it has ended before
}

void start(char** environment) {
    if (started) return;
    started = true;
    read_options(environment);
    end_with_parent();
#if defined(FENCEPOST_FULL)
    embedded_image_runs = program_embeds_image();
#endif
    races::start();
    start_threads();
    find_atomic_methods();
    start_findings();
    read_sites();
    start_interposing();
    on_exit(at_end, nullptr);
#if !defined(FENCEPOST_RACES)
    __tsan_on_initialize();
#endif
    scheduler::start(options.schedule);
    if (!scheduler::active()) return;
    start_volatile_accesses();
    races::watch_main(current_thread());
    if (options.schedule.weak && !scheduler::exploring()) weak::start();
}

void start_early(int, char**, char** environment) {
    start(environment);
}

// Runs before the constructors of all modules. The C library's own functions work, `getenv` does not.
[[gnu::section(".preinit_array"), gnu::used]] void (*const first)(int, char**, char**) = start_early;

}  // namespace

void start_runtime() {
    start(environ);
}

std::uint32_t choose(std::uint32_t n) {
    if (n == 0) return 0;
    if (scheduler::active()) return scheduler::choose(n);
    static std::uint64_t state;
    if (state == 0) kernel::call(SYS_getrandom, &state, sizeof state, 0);
    std::uint64_t const next = __atomic_add_fetch(&state, 0x9e3779b97f4a7c15u, __ATOMIC_RELAXED);
    std::uint64_t const mixed = (next ^ next >> 31) * 0xbf58476d1ce4e5b9u;
    return static_cast<std::uint32_t>((mixed >> 32) % n);
}

}  // namespace fencepost
