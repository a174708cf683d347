// The user's settings: FENCEPOST_OPTIONS="name=value:name=value". A later setting of a name wins. A name
// that is not known gives one line of warning.
//
//   halt_on_error=0      end the process at the first finding
//   exitcode=66          exit code of a process with findings; 0 keeps the program's own
//   log_path=stderr      where the text report goes; a file's name may contain %p, the process number
//   quiet=0              no text report
//   json=FILE            events as JSON lines; %p as above
//   suppressions=FILE    lines `robustness:PATTERN`: findings with a frame that matches are left out
//   internals=0          findings inside of libstdc++ too
//   max_findings=100     then only counted
//   await_loops=1        a loop that only repeats one load or CAS is a wait (await.hpp)
//   sites=FILE           other orders and fences at atomic operations (core/sites.hpp)
//   list_sites=0         the operations that were made, as events
//   volatile=plain|relaxed    under a schedule: are plain accesses to volatile objects relaxed atomic ones?
//   history=512          by how many accesses each thread is known to have learned from others, for reports
//   threads_limit=4096   threads whose atomics are watched at one time
//   run_by=0             end when this process does, if it has started us
//   schedule=os          os, random, pct or explore (schedule/scheduler.hpp), with
//   seed=1  depth=3  steps=20000000  length=0  stall=10  switch=auto|futex  decisions=FILE  replay=FILE
//   runs=0  stride=1  first_run=0  run_limit=0  output=FILE    many runs, with the seeds from `seed` on, or
//   every so many
//                        of them (schedule/series.cpp); %r in the names of files is the number of the run
//   weak=0               loads may read old writes (core/weak_memory.hpp), with
//   weak_from=0  weak_seed=SEED    only from that step on, and there an old one; then the schedule is random
//   weak_reads=0         at most so many loads do; 0: no limit
//   executions=0  seconds=0  rounds=20  failing=0  bound=N  first=0  sc_fences=commute|ordered    (explore)
//   walks=1  restart=auto|fork|memory  resume=FILE                                                (explore)
#pragma once

#include <cstdint>
namespace fencepost {
namespace scheduler {

enum class Kind : std::uint8_t { os, random, pct, explore };

struct Settings {
    Kind kind = Kind::os;
    std::uint64_t seed = 1;
    std::uint32_t depth = 3;           // pct
    std::uint64_t length = 0;          // pct: expected number of steps; 0 if it is not known
    std::uint64_t steps = 20'000'000;  // then the run is given up
    std::uint32_t stall = 10;          // seconds without a step after which that is reported; 0: never
    bool futexes = false;              // no switching in user space, even if the processor could
    char const* decisions = nullptr;   // file to write
    char const* replay = nullptr;      // file to follow; makes any kind but `os` a replay
    bool weak = false;                 // loads may read old writes
    std::uint64_t weak_from = 0;       // not before this step; the load there does. 0: from the beginning
    std::uint64_t weak_seed = 0;       // of what is chosen then; 0: the seed
    std::uint64_t weak_reads = 0;      // of old writes, at most; 0: no limit
    std::uint64_t runs = 0;            // one process for each; 0: this process is the run
    std::uint64_t stride = 1;          // only every so many of them
    std::uint64_t first_run = 0;       // from this on
    std::int64_t run_limit = 0;        // of a run, in milliseconds; 0: none
    // explore:
    std::uint64_t executions = 0;      // then it is given up; 0: no limit
    std::uint64_t seconds = 0;         // the same
    std::uint32_t rounds = 20;         // of a loop that is not known to wait
    std::uint32_t failing = 0;         // allocations that may fail in an execution
    std::uint32_t bound = UINT32_MAX;  // on preemptions in an execution
    bool first = false;                // stop at the first finding
    std::uint32_t walks = 1;           // processes that share the work
    char const* resume = nullptr;      // file in which the state is kept, and from which it goes on
    enum class Restart : std::uint8_t { automatic, fork, memory } restart = Restart::automatic;
    bool sc_fences_commute = true;  // C++20 does not order them in happens-before
};

}  // namespace scheduler

struct Options {
    bool halt_on_error = false;
    bool quiet = false;
    bool await_loops = true;
    bool internals = false;
    bool list_sites = false;
    bool volatile_relaxed = false;
    std::uint32_t exitcode = 66;
    std::uint32_t max_findings = 100;
    std::uint32_t history = 512;
    std::uint32_t threads_limit = 4096;
    std::uint32_t run_by = 0;
    char const* log_path = nullptr;  // null: standard error
    char const* json = nullptr;
    char const* suppressions = nullptr;
    char const* sites = nullptr;
    char const* schedule_name = "os";
    char const* output = nullptr;  // of the program, in a series of runs; null: as it is
    std::int64_t run_number = -1;  // in a series; -1: before the first
    scheduler::Settings schedule;
    bool thread_sanitizer_has_log = false;  // TSAN_OPTIONS says where its reports go
};

extern Options options;

// Reads the environment, which `getenv` cannot do where this is called.
void read_options(char** environment);

// `path` with the process number for %p and that of the run for %r, ended by a zero; never freed.
char const* with_numbers(char const* path);

}  // namespace fencepost
