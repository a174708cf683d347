// Plain accesses, in mode full: the rest of ThreadSanitizer's interface, for our own race detector
// (races/accesses.hpp), and memory that comes and goes.
//
// Nothing is watched before the schedule begins, without one, and in threads beside it.
#include <cstddef>
#include <cstdint>

#include "sanitizer/core/threads.hpp"
#include "sanitizer/hooks/race_watch.hpp"
#include "sanitizer/hooks/runtime.hpp"
#include "sanitizer/hooks/volatile_accesses.hpp"
#include "sanitizer/hooks/watched_bytes.hpp"
#include "sanitizer/races/accesses.hpp"
#include "sanitizer/report/race_findings.hpp"

using namespace fencepost;
using races::Kind;

namespace {

bool is_watched(Thread const& t) {
    if (t.unwatched && races::watch == races::Watch::all) races::stop_watching();
    return races::watch == races::Watch::all && races::watches(t);
}

[[gnu::noinline]] void note(races::PlainAccess const& access) {
    Hook hook;
    Thread& t = hook.thread();
    if (!hook || !is_watched(t) || t.race_clocks->ignored != 0) return;
    races::Races found;
    races::note_access(t, access, found);
    if (found.count != 0) report_races(t, access, found);
}

[[gnu::always_inline]] inline void note_unless_noted(void const volatile* a, std::size_t size, Kind kind,
                                                     void const* frame) {
    Thread const* const t = this_thread;
    if (t == nullptr || t->race_clocks == nullptr) return;
    auto const address = reinterpret_cast<std::uintptr_t>(a);
    if (!races::is_noted(*t->race_clocks, address, size, kind)) note({address, size, kind, frame});
}

// In a thread beside the schedule nothing can be done about the accesses of others.
bool may_forget(Hook const& hook) {
    if (races::watch != races::Watch::all || !hook) return false;
    if (!races::watches(hook.thread())) races::stop_watching();
    return is_watched(hook.thread());
}

}  // namespace

namespace fencepost {

void note_bytes_read(void const* begin, std::size_t bytes, void const* frame) {
    if (bytes != 0) note_unless_noted(begin, bytes, Kind::read, frame);
}
void note_bytes_written(void const* begin, std::size_t bytes, void const* frame) {
    if (bytes != 0) note_unless_noted(begin, bytes, Kind::write, frame);
}

void memory_comes(void const* begin, std::size_t bytes) {
    if (races::watch != races::Watch::all) return;
    Hook hook;
    if (may_forget(hook)) races::forget_accesses(reinterpret_cast<std::uintptr_t>(begin), bytes);
}

// Large blocks are left out: zeroed pages cost nothing, noting them would.
void memory_is_zeroed(void const* begin, std::size_t bytes, void const* frame) {
    constexpr std::size_t most = 64 * 1024;
    if (bytes <= most) note_bytes_written(begin, bytes, frame);
}

// It counts as a write to all of it. Who gives memory back while another thread may still use it is wrong,
// though the other was faster this time.
void memory_goes(void const* begin, std::size_t bytes, void const* frame) {
    if (races::watch != races::Watch::all) return;
    Hook hook;
    if (!may_forget(hook)) return;
    races::PlainAccess const access{reinterpret_cast<std::uintptr_t>(begin), bytes, Kind::write, frame};
    races::Races found;
    if (frame != nullptr) races::check_accesses(hook.thread(), access.address, bytes, found);
    if (found.count != 0) report_races(hook.thread(), access, found);
    races::forget_accesses(access.address, bytes);
}

void begin_ignoring() {
    if (Thread const* const t = this_thread; t != nullptr && races::watches(*t)) ++t->race_clocks->ignored;
}
void end_ignoring() {
    Thread const* const t = this_thread;
    if (t != nullptr && races::watches(*t) && t->race_clocks->ignored != 0) --t->race_clocks->ignored;
}

void note_external_read(void const* object, void const* frame) {
    note_unless_noted(object, 1, Kind::read, frame);
}
void note_external_write(void const* object, void const* frame) {
    note_unless_noted(object, 1, Kind::write, frame);
}

}  // namespace fencepost

#define FRAME __builtin_frame_address(0)
#define FENCEPOST_API extern "C" [[gnu::visibility("default"), gnu::noinline]]

FENCEPOST_API void __tsan_init() {
    start_runtime();
}

#define ACCESS(name, size, kind)                       \
    FENCEPOST_API void __tsan_##name##size(void* a) {  \
        note_unless_noted(a, size, Kind::kind, FRAME); \
    }
#define VOLATILE(name, size, kind)                                                              \
    FENCEPOST_API void __tsan_##name##size(void* a) {                                           \
        if (!is_volatile_##kind(a, size, FRAME)) note_unless_noted(a, size, Kind::kind, FRAME); \
    }
#define ACCESSES_OF_SIZE(size)                    \
    ACCESS(read, size, read)                      \
    ACCESS(write, size, write)                    \
    ACCESS(read_write, size, write)               \
    ACCESS(unaligned_read, size, read)            \
    ACCESS(unaligned_write, size, write)          \
    ACCESS(unaligned_read_write, size, write)     \
    VOLATILE(volatile_read, size, read)           \
    VOLATILE(volatile_write, size, write)         \
    VOLATILE(unaligned_volatile_read, size, read) \
    VOLATILE(unaligned_volatile_write, size, write)
ACCESSES_OF_SIZE(1)
ACCESSES_OF_SIZE(2)
ACCESSES_OF_SIZE(4)
ACCESSES_OF_SIZE(8)
ACCESSES_OF_SIZE(16)

FENCEPOST_API void __tsan_read_range(void* begin, unsigned long bytes) {
    note_bytes_read(begin, bytes, FRAME);
}
FENCEPOST_API void __tsan_write_range(void* begin, unsigned long bytes) {
    note_bytes_written(begin, bytes, FRAME);
}

// A destructor sets the table of functions of its own class, which mostly is there already.
FENCEPOST_API void __tsan_vptr_update(void** vptr, void* table) {
    if (*vptr != table) note_bytes_written(vptr, sizeof *vptr, FRAME);
}
FENCEPOST_API void __tsan_vptr_read(void** vptr) {
    note_bytes_read(vptr, sizeof *vptr, FRAME);
}

// Stacks are found by frame pointers.
FENCEPOST_API void __tsan_func_entry(void*) {}
FENCEPOST_API void __tsan_func_exit() {}

FENCEPOST_API void __tsan_ignore_thread_begin() {
    begin_ignoring();
}
FENCEPOST_API void __tsan_ignore_thread_end() {
    end_ignoring();
}

FENCEPOST_API void* __tsan_memcpy(void* to, void const* from, std::size_t bytes) {
    note_bytes_read(from, bytes, FRAME);
    note_bytes_written(to, bytes, FRAME);
    return __builtin_memcpy(to, from, bytes);
}
FENCEPOST_API void* __tsan_memmove(void* to, void const* from, std::size_t bytes) {
    note_bytes_read(from, bytes, FRAME);
    note_bytes_written(to, bytes, FRAME);
    return __builtin_memmove(to, from, bytes);
}
FENCEPOST_API void* __tsan_memset(void* to, int value, std::size_t bytes) {
    note_bytes_written(to, bytes, FRAME);
    return __builtin_memset(to, value, bytes);
}
