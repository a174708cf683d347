// OpenMP as gcc compiles it: calls of libgomp, which is not instrumented. What it orders is said here.
//
//   parallel region      a thread that begins it knows what the one that forks it knew; that one knows
//   afterwards
//                        what all knew at their ends
//   barrier              explicit, or at the end of a loop, of sections or of a copy from `single`: a thread
//   that
//                        leaves it knows what all knew when they arrived
//   critical, atomic,    as mutexes
//   ordered, locks
//   task                 knows at its beginning what the thread knew that made a task last; whoever waits for
//                        tasks knows afterwards what all tasks knew at their ends
//
// Not said: taskloop, reductions over tasks, and what `depend` orders among tasks.
//
// clang's library, libomp, tells tools what happens, by the interface OMPT, and comes with one that makes
// annotations for ThreadSanitizer of it: Archer. These annotations mean the same here (annotations.cpp), so
// all that is needed is that libomp finds it.
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sanitizer/hooks/interpose.hpp"
#include "sanitizer/system/text.hpp"
#if defined(FENCEPOST_RACES)
#include "sanitizer/races/tsan.hpp"
#endif

// libgomp's types: its header <omp.h> belongs to gcc and need not be there.
extern "C" {
struct omp_lock_t;
struct omp_nest_lock_t;
}

using namespace fencepost;

namespace {

using Body = void (*)(void*);

// In mode races ThreadSanitizer is told too.
void acquire(void const* object, std::uintptr_t channel = 0) {
    acquire_object(object, channel);
#if defined(FENCEPOST_RACES)
    __tsan_acquire(static_cast<char*>(const_cast<void*>(object)) + channel);
#endif
}
void release(void const* object, std::uintptr_t channel = 0) {
    release_object(object, channel);
#if defined(FENCEPOST_RACES)
    __tsan_release(static_cast<char*>(const_cast<void*>(object)) + channel);
#endif
}

// Of libgomp's own. It may not have been linked, as the program has all that it needs by us.
void* libgomp(char const* name) {
    if (void* const found = dlsym(RTLD_NEXT, name); found != nullptr) return found;
    static void* library = nullptr;
    if (library == nullptr) library = dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL);
    return library == nullptr ? nullptr : dlsym(library, name);
}

// `Signature`: the function's type.
#define LIBGOMP(Signature, name)                                                  \
    ([] {                                                                         \
        using Function = Signature;                                               \
        static Function* known = nullptr;                                         \
        if (known == nullptr) known = reinterpret_cast<Function*>(libgomp(name)); \
        return known;                                                             \
    }())

enum Channel : std::uintptr_t {
    forked = 0,
    joined = 1,
    arrived = 2,
    made_tasks = 4,
    ended_tasks = 5,
    in_order = 6
};

struct Region {
    Body body;
    void* data;
    char channels[8];  // their addresses stand for what is passed on
};

constinit thread_local Region* inside [[gnu::tls_model("initial-exec")]] = nullptr;
constinit thread_local std::uint32_t barriers [[gnu::tls_model("initial-exec")]] = 0;  // met in this region

void run_region(void* argument) {
    auto* const region = static_cast<Region*>(argument);
    Region* const outer = inside;
    std::uint32_t const outer_barriers = barriers;
    acquire(region->channels, forked);
    inside = region;
    barriers = 0;
    region->body(region->data);
    inside = outer;
    barriers = outer_barriers;
    release(region->channels, joined);
}

// run(body, data) has libgomp run the region.
template <class Run>
void parallel(Body body, void* data, Run run) {
    Region region{body, data, {}};
    release(region.channels, forked);
    run(run_region, &region);
    acquire(region.channels, joined);
    acquire(region.channels, ended_tasks);
}

void arrive() {
    if (inside != nullptr) release(inside->channels, arrived + barriers % 2);
}
void leave() {
    if (inside == nullptr) return;
    acquire(inside->channels, arrived + barriers % 2);
    acquire(inside->channels, ended_tasks);
    ++barriers;
}
void tasks_have_ended() {
    if (inside != nullptr) acquire(inside->channels, ended_tasks);
}

// What libgomp keeps for a task, before the program's own data.
struct alignas(16) TaskHead {
    Body body;
    Region* region;
    void (*copy)(void*, void*);  // null: bytes are
    void* from;
    std::size_t bytes, offset;  // of the data
};

void copy_task(void* to, void* from) {
    auto const& head = *static_cast<TaskHead*>(from);
    *static_cast<TaskHead*>(to) = head;
    char* const data = static_cast<char*>(to) + head.offset;
    if (head.copy != nullptr)
        head.copy(data, head.from);
    else
        __builtin_memcpy(data, head.from, head.bytes);
}

void run_task(void* argument) {
    auto const head = *static_cast<TaskHead*>(argument);
    Region* const outer = inside;
    if (head.region != nullptr) acquire(head.region->channels, made_tasks);
    inside = head.region;
    head.body(static_cast<char*>(argument) + head.offset);
    inside = outer;
    if (head.region != nullptr) release(head.region->channels, ended_tasks);
}

constexpr char critical = 0, atomic = 0;  // their addresses

}  // namespace

FENCEPOST_INTERPOSE void GOMP_parallel(Body body, void* data, unsigned threads, unsigned flags) {
    parallel(body, data, [&](Body run, void* region) {
        LIBGOMP(void(Body, void*, unsigned, unsigned), "GOMP_parallel")(run, region, threads, flags);
    });
}
FENCEPOST_INTERPOSE void GOMP_parallel_sections(Body body, void* data, unsigned threads, unsigned count,
                                                unsigned flags) {
    parallel(body, data, [&](Body run, void* region) {
        LIBGOMP(void(Body, void*, unsigned, unsigned, unsigned), "GOMP_parallel_sections")
        (run, region, threads, count, flags);
    });
}
FENCEPOST_INTERPOSE void GOMP_teams_reg(Body body, void* data, unsigned teams, unsigned limit,
                                        unsigned flags) {
    parallel(body, data, [&](Body run, void* region) {
        LIBGOMP(void(Body, void*, unsigned, unsigned, unsigned), "GOMP_teams_reg")(run, region, teams, limit,
                                                                                   flags);
    });
}

#define PARALLEL_LOOP(kind)                                                                                 \
    FENCEPOST_INTERPOSE void GOMP_parallel_loop_##kind(Body body, void* data, unsigned threads, long begin, \
                                                       long end, long step, long chunk, unsigned flags) {   \
        parallel(body, data, [&](Body run, void* region) {                                                  \
            LIBGOMP(void(Body, void*, unsigned, long, long, long, long, unsigned),                          \
                    "GOMP_parallel_loop_" #kind)                                                            \
            (run, region, threads, begin, end, step, chunk, flags);                                         \
        });                                                                                                 \
    }
PARALLEL_LOOP(static)
PARALLEL_LOOP(dynamic)
PARALLEL_LOOP(guided)
PARALLEL_LOOP(nonmonotonic_dynamic)
PARALLEL_LOOP(nonmonotonic_guided)
// Without the size of a chunk.
#define PARALLEL_LOOP_AT_RUN_TIME(kind)                                                                     \
    FENCEPOST_INTERPOSE void GOMP_parallel_loop_##kind(Body body, void* data, unsigned threads, long begin, \
                                                       long end, long step, unsigned flags) {               \
        parallel(body, data, [&](Body run, void* region) {                                                  \
            LIBGOMP(void(Body, void*, unsigned, long, long, long, unsigned), "GOMP_parallel_loop_" #kind)   \
            (run, region, threads, begin, end, step, flags);                                                \
        });                                                                                                 \
    }
PARALLEL_LOOP_AT_RUN_TIME(runtime)
PARALLEL_LOOP_AT_RUN_TIME(nonmonotonic_runtime)
PARALLEL_LOOP_AT_RUN_TIME(maybe_nonmonotonic_runtime)

#define BARRIER(name)                        \
    FENCEPOST_INTERPOSE void GOMP_##name() { \
        arrive();                            \
        LIBGOMP(void(), "GOMP_" #name)();    \
        leave();                             \
    }
BARRIER(barrier)
BARRIER(loop_end)
BARRIER(sections_end)
#define BARRIER_WITH_RESULT(name)                             \
    FENCEPOST_INTERPOSE bool GOMP_##name() {                  \
        arrive();                                             \
        bool const result = LIBGOMP(bool(), "GOMP_" #name)(); \
        leave();                                              \
        return result;                                        \
    }
BARRIER_WITH_RESULT(barrier_cancel)
BARRIER_WITH_RESULT(loop_end_cancel)
BARRIER_WITH_RESULT(sections_end_cancel)

// Null for the thread that is to do it; the others wait for what it copies.
FENCEPOST_INTERPOSE void* GOMP_single_copy_start() {
    void* const copied = LIBGOMP(void*(), "GOMP_single_copy_start")();
    if (copied != nullptr) leave();
    return copied;
}
FENCEPOST_INTERPOSE void GOMP_single_copy_end(void* data) {
    arrive();
    LIBGOMP(void(void*), "GOMP_single_copy_end")(data);
    leave();
}

#define LOCKED(begin, end, object)     \
    FENCEPOST_INTERPOSE void begin() { \
        LIBGOMP(void(), #begin)();     \
        acquire(object);               \
    }                                  \
    FENCEPOST_INTERPOSE void end() {   \
        release(object);               \
        LIBGOMP(void(), #end)();       \
    }
LOCKED(GOMP_critical_start, GOMP_critical_end, &critical)
LOCKED(GOMP_atomic_start, GOMP_atomic_end, &atomic)
LOCKED(GOMP_ordered_start, GOMP_ordered_end, inside != nullptr ? inside->channels + in_order : &critical)

#define LOCKED_BY(begin, end, Lock)              \
    FENCEPOST_INTERPOSE void begin(Lock* lock) { \
        LIBGOMP(void(Lock*), #begin)(lock);      \
        acquire(lock);                           \
    }                                            \
    FENCEPOST_INTERPOSE void end(Lock* lock) {   \
        release(lock);                           \
        LIBGOMP(void(Lock*), #end)(lock);        \
    }
LOCKED_BY(GOMP_critical_name_start, GOMP_critical_name_end, void*)
LOCKED_BY(omp_set_lock, omp_unset_lock, omp_lock_t)
LOCKED_BY(omp_set_nest_lock, omp_unset_nest_lock, omp_nest_lock_t)
FENCEPOST_INTERPOSE int omp_test_lock(omp_lock_t* lock) {
    int const taken = LIBGOMP(int(omp_lock_t*), "omp_test_lock")(lock);
    if (taken != 0) acquire(lock);
    return taken;
}
FENCEPOST_INTERPOSE int omp_test_nest_lock(omp_nest_lock_t* lock) {
    int const taken = LIBGOMP(int(omp_nest_lock_t*), "omp_test_nest_lock")(lock);
    if (taken != 0) acquire(lock);
    return taken;
}

FENCEPOST_INTERPOSE void GOMP_task(Body body, void* data, void (*copy)(void*, void*), long bytes,
                                   long alignment, bool deferred, unsigned flags, void** depends,
                                   int priority, void* detach) {
    if (inside != nullptr) release(inside->channels, made_tasks);
    std::size_t const align = alignment > 16 ? static_cast<std::size_t>(alignment) : 16;
    std::size_t const offset = (sizeof(TaskHead) + align - 1) / align * align;
    TaskHead head{body, inside, copy, data, static_cast<std::size_t>(bytes), offset};
    LIBGOMP(void(Body, void*, void (*)(void*, void*), long, long, bool, unsigned, void**, int, void*),
            "GOMP_task")
    (run_task, &head, copy_task, static_cast<long>(offset) + bytes, static_cast<long>(align), deferred, flags,
     depends, priority, detach);
    if (!deferred) tasks_have_ended();
}
FENCEPOST_INTERPOSE void GOMP_taskwait() {
    LIBGOMP(void(), "GOMP_taskwait")();
    tasks_have_ended();
}
FENCEPOST_INTERPOSE void GOMP_taskgroup_end() {
    LIBGOMP(void(), "GOMP_taskgroup_end")();
    tasks_have_ended();
}

namespace {

// Beside the library that this place in it belongs to; null if it is not there.
void* find_archer(void const* place) {
    Dl_info library;
    if (dladdr(place, &library) == 0) return nullptr;
    char* const path = realpath(library.dli_fname, nullptr);
    if (path == nullptr) return nullptr;
    std::string_view const folder(path, std::string_view(path).rfind('/') + 1);
    Text tool;
    tool << folder << "libarcher.so";
    free(path);
    return dlopen(keep(tool.view()), RTLD_NOW | RTLD_LOCAL);
}

// ompt_start_tool_result_t of OMPT.
struct Tool {
    int (*initialize)(void* (*look_up)(char const*), int device, void* data);
    void (*finalize)(void* data);
    std::uint64_t data;
};
Tool const* archer;

// Archer warns on standard error if ThreadSanitizer is not told to leave out what libomp itself does. That
// has been decided: what is not instrumented is not watched.
int initialize_archer(void* (*look_up)(char const*), int device, void* data) {
    constexpr char const* name = "TSAN_OPTIONS";
    char const* const set = getenv(name);
    char const* const before = set == nullptr ? nullptr : keep(set);
    Text now;
    now << (set == nullptr ? "" : set) << ":ignore_noninstrumented_modules=1";
    setenv(name, keep(now.view()), 1);
    int const result = archer->initialize(look_up, device, data);
    before == nullptr ? unsetenv(name) : setenv(name, before, 1);
    return result;
}

}  // namespace

// Which tool should libomp tell? The user's, if there is one.
extern "C" [[gnu::weak, gnu::visibility("default")]] void* ompt_start_tool(unsigned version,
                                                                           char const* runtime) {
    if (getenv("OMP_TOOL_LIBRARIES") != nullptr) return nullptr;
    void* const library = find_archer(__builtin_return_address(0));
    if (library == nullptr) return nullptr;
    using Start = Tool*(unsigned, char const*);
    auto* const start = reinterpret_cast<Start*>(dlsym(library, "ompt_start_tool"));
    archer = start == nullptr ? nullptr : start(version, runtime);
    if (archer == nullptr) return nullptr;
    static Tool tool;
    tool = {initialize_archer, archer->finalize, archer->data};
    return &tool;
}
