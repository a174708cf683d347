// What the race detector of mode full is told besides synchronisation (races/feed.hpp): accesses, and memory
// that comes and goes. In the other modes all functions here are empty.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/core/threads.hpp"
#include "sanitizer/races/feed.hpp"
#if defined(FENCEPOST_FULL)
#include "sanitizer/report/race_findings.hpp"
#endif

namespace fencepost {

#if defined(FENCEPOST_FULL)

// An atomic access, which can race with plain ones. It is noted after what it acquires and before what it
// releases.
class WatchedAtomic {
  public:
    template <class T>
    WatchedAtomic(Thread& t, T const volatile* a, void const* frame)
        : thread_(t),
          access_{reinterpret_cast<std::uintptr_t>(a), sizeof(T), races::Kind::atomic_read, frame} {}
    void read() { note(races::Kind::atomic_read); }
    void write() { note(races::Kind::atomic_write); }
    // No lock being held.
    void report() const {
        if (found_.count != 0) report_races(thread_, access_, found_);
    }

  private:
    void note(races::Kind kind) {
        RaceClocks const* const c = thread_.race_clocks;
        if (c == nullptr || races::is_noted(*c, access_.address, access_.size, kind)) return;
        access_.kind = kind;
        races::note_access(thread_, access_, found_);
    }

    Thread& thread_;
    races::PlainAccess access_;
    races::Races found_;
};

// Memory that the program was given, or gives back. `frame`: of the function that it called.
void memory_comes(void const* begin, std::size_t bytes);
void memory_is_zeroed(void const* begin, std::size_t bytes, void const* frame);
void memory_goes(void const* begin, std::size_t bytes, void const* frame);

// What a program says of its plain accesses (hooks/annotations.cpp): those in between are not watched; one to
// an object of another language; races at these bytes are not reported.
void begin_ignoring();
void end_ignoring();
void note_external_read(void const* object, void const* frame);
void note_external_write(void const* object, void const* frame);

#else

class WatchedAtomic {
  public:
    template <class T>
    WatchedAtomic(Thread&, T const volatile*, void const*) {}
    void read() {}
    void write() {}
    void report() const {}
};

inline void memory_comes(void const*, std::size_t) {}
inline void memory_is_zeroed(void const*, std::size_t, void const*) {}
inline void memory_goes(void const*, std::size_t, void const*) {}
inline void race_findings_in_child_of_fork() {}
inline void begin_ignoring() {}
inline void end_ignoring() {}
inline void note_external_read(void const*, void const*) {}
inline void note_external_write(void const*, void const*) {}
inline void races_are_benign(void const*, std::size_t) {}

#endif

}  // namespace fencepost
