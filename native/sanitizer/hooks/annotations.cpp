// What programs that know ThreadSanitizer say of their own synchronisation: <sanitizer/tsan_interface.h>, and
// the older functions Annotate…, which have no public header.
//
//   acquire, release       of an address, as of a mutex there
//   mutex                  a lock knows all unlocks before it; one for reading only those by writers. What
//                          happens within a lock or unlock is no plain access of the program
//   Annotate…              HappensBefore is a release, HappensAfter an acquire; a read-write lock is a mutex.
//                          Between IgnoreReadsBegin and its end, and likewise for writes, plain accesses are
//                          not watched; races at addresses with BenignRace are not reported. The others mean
//                          nothing, as in ThreadSanitizer
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sanitizer/core/threads.hpp"
#include "sanitizer/hooks/interpose.hpp"
#include "sanitizer/hooks/public_interface.hpp"
#include "sanitizer/hooks/race_watch.hpp"

using namespace fencepost;

namespace {

void acquire_lock(void* lock, bool writes) {
    acquire_object(lock, by_writers);
    if (writes) acquire_object(lock, by_readers);
}

void release_lock(void* lock, bool writes) {
    release_object(lock, writes ? by_writers : by_readers);
}

}  // namespace

FENCEPOST_PUBLIC(void, __tsan_acquire, void* address) {
    acquire_object(address);
    AND_REALLY(__tsan_acquire, address);
}
FENCEPOST_PUBLIC(void, __tsan_release, void* address) {
    release_object(address);
    AND_REALLY(__tsan_release, address);
}

namespace {

enum MutexFlag : unsigned { only_reads = 1 << 3, has_failed = 1 << 5 };

}  // namespace

FENCEPOST_PUBLIC(void, __tsan_mutex_post_lock, void* mutex, unsigned flags, int recursion) {
    if ((flags & has_failed) == 0) acquire_lock(mutex, (flags & only_reads) == 0);
    static_cast<void>(recursion);
    AND_REALLY(__tsan_mutex_post_lock, mutex, flags, recursion);
    end_ignoring();
}
FENCEPOST_PUBLIC(int, __tsan_mutex_pre_unlock, void* mutex, unsigned flags) {
    bool const writes = (flags & only_reads) == 0;
    release_lock(mutex, writes);
    begin_ignoring();
#if defined(FENCEPOST_RACES)
    return __real___tsan_mutex_pre_unlock(mutex, flags);
#else
    return writes ? 1 : 0;  // times that it was locked
#endif
}

FENCEPOST_PUBLIC(void, AnnotateHappensBefore, char const* file, int line, void* address) {
    static_cast<void>(file), static_cast<void>(line);
    release_object(address);
    AND_REALLY(AnnotateHappensBefore, file, line, address);
}
FENCEPOST_PUBLIC(void, AnnotateHappensAfter, char const* file, int line, void* address) {
    static_cast<void>(file), static_cast<void>(line);
    acquire_object(address);
    AND_REALLY(AnnotateHappensAfter, file, line, address);
}
FENCEPOST_PUBLIC(void, WTFAnnotateHappensBefore, char const* file, int line, void* address) {
    static_cast<void>(file), static_cast<void>(line);
    release_object(address);
    AND_REALLY(WTFAnnotateHappensBefore, file, line, address);
}
FENCEPOST_PUBLIC(void, WTFAnnotateHappensAfter, char const* file, int line, void* address) {
    static_cast<void>(file), static_cast<void>(line);
    acquire_object(address);
    AND_REALLY(WTFAnnotateHappensAfter, file, line, address);
}
FENCEPOST_PUBLIC(void, AnnotateRWLockAcquired, char const* file, int line, void* lock, long writes) {
    static_cast<void>(file), static_cast<void>(line);
    acquire_lock(lock, writes != 0);
    AND_REALLY(AnnotateRWLockAcquired, file, line, lock, writes);
}
FENCEPOST_PUBLIC(void, AnnotateRWLockReleased, char const* file, int line, void* lock, long writes) {
    static_cast<void>(file), static_cast<void>(line);
    release_lock(lock, writes != 0);
    AND_REALLY(AnnotateRWLockReleased, file, line, lock, writes);
}

// The rest ThreadSanitizer does alone in mode races.
#if !defined(FENCEPOST_RACES)

FENCEPOST_PUBLIC(void, __tsan_mutex_create, void*, unsigned) {}
FENCEPOST_PUBLIC(void, __tsan_mutex_destroy, void*, unsigned) {}
FENCEPOST_PUBLIC(void, __tsan_mutex_pre_lock, void*, unsigned) {
    begin_ignoring();
}
FENCEPOST_PUBLIC(void, __tsan_mutex_post_unlock, void*, unsigned) {
    end_ignoring();
}
FENCEPOST_PUBLIC(void, __tsan_mutex_pre_signal, void*, unsigned) {
    begin_ignoring();
}
FENCEPOST_PUBLIC(void, __tsan_mutex_post_signal, void*, unsigned) {
    end_ignoring();
}
// Within one of the above: something else, such as code that waits, is the program's again.
FENCEPOST_PUBLIC(void, __tsan_mutex_pre_divert, void*, unsigned) {
    end_ignoring();
}
FENCEPOST_PUBLIC(void, __tsan_mutex_post_divert, void*, unsigned) {
    begin_ignoring();
}

// Accesses to objects of other languages: one byte stands for all of it. A tag is a number, 0 being none.
FENCEPOST_PUBLIC(void*, __tsan_external_register_tag, char const*) {
    static std::uintptr_t tags = 0;
    return reinterpret_cast<void*>(__atomic_add_fetch(&tags, 1, __ATOMIC_RELAXED));
}
FENCEPOST_PUBLIC(void, __tsan_external_register_header, void*, char const*) {}
FENCEPOST_PUBLIC(void, __tsan_external_assign_tag, void*, void*) {}
FENCEPOST_PUBLIC(void, __tsan_external_read, void* object, void*, void*) {
    note_external_read(object, __builtin_frame_address(0));
}
FENCEPOST_PUBLIC(void, __tsan_external_write, void* object, void*, void*) {
    note_external_write(object, __builtin_frame_address(0));
}

FENCEPOST_PUBLIC(void, __tsan_flush_memory) {}

#define MEANS_NOTHING(name, ...) \
    FENCEPOST_PUBLIC(void, Annotate##name, char const*, int __VA_OPT__(, ) __VA_ARGS__) {}
MEANS_NOTHING(CondVarSignal, void*)
MEANS_NOTHING(CondVarSignalAll, void*)
MEANS_NOTHING(CondVarWait, void*, void*)
MEANS_NOTHING(MutexIsNotPHB, void*)
MEANS_NOTHING(MutexIsUsedAsCondVar, void*)
MEANS_NOTHING(RWLockCreate, void*)
MEANS_NOTHING(RWLockCreateStatic, void*)
MEANS_NOTHING(RWLockDestroy, void*)
MEANS_NOTHING(TraceMemory, void*)
MEANS_NOTHING(FlushState)
MEANS_NOTHING(NewMemory, void*, long)
MEANS_NOTHING(NoOp, void*)
MEANS_NOTHING(FlushExpectedRaces)
MEANS_NOTHING(EnableRaceDetection, int)
MEANS_NOTHING(PCQCreate, void*)
MEANS_NOTHING(PCQDestroy, void*)
MEANS_NOTHING(PCQGet, void*)
MEANS_NOTHING(PCQPut, void*)
MEANS_NOTHING(IgnoreSyncBegin)
MEANS_NOTHING(IgnoreSyncEnd)
MEANS_NOTHING(PublishMemoryRange, void*, long)
MEANS_NOTHING(UnpublishMemoryRange, void*, long)
MEANS_NOTHING(MemoryIsInitialized, void*, long)
MEANS_NOTHING(MemoryIsUninitialized, void*, long)

FENCEPOST_PUBLIC(void, AnnotateIgnoreReadsBegin, char const*, int) {
    begin_ignoring();
}
FENCEPOST_PUBLIC(void, AnnotateIgnoreReadsEnd, char const*, int) {
    end_ignoring();
}
FENCEPOST_PUBLIC(void, AnnotateIgnoreWritesBegin, char const*, int) {
    begin_ignoring();
}
FENCEPOST_PUBLIC(void, AnnotateIgnoreWritesEnd, char const*, int) {
    end_ignoring();
}
FENCEPOST_PUBLIC(void, AnnotateBenignRace, char const*, int, void* address, char const*) {
    races_are_benign(address, 1);
}
FENCEPOST_PUBLIC(void, AnnotateBenignRaceSized, char const*, int, void* address, long bytes, char const*) {
    races_are_benign(address, static_cast<std::size_t>(bytes));
}
FENCEPOST_PUBLIC(void, WTFAnnotateBenignRaceSized, char const*, int, void* address, long bytes, char const*) {
    races_are_benign(address, static_cast<std::size_t>(bytes));
}
FENCEPOST_PUBLIC(void, AnnotateExpectRace, char const*, int, void* address, char const*) {
    races_are_benign(address, 1);
}
FENCEPOST_PUBLIC(void, AnnotateThreadName, char const*, int, char* name) {
    name_thread(current_thread(), name);
}

FENCEPOST_PUBLIC(int, RunningOnValgrind) {
    return 0;
}
FENCEPOST_PUBLIC(double, ValgrindSlowdown) {
    return 10;  // as ThreadSanitizer says
}
FENCEPOST_PUBLIC(char const*, ThreadSanitizerQuery, char const* query) {
    return std::string_view(query) == "pure_happens_before" ? "1" : "0";
}

#endif
