// When a thread should sleep because others want the same location.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/system/lock.hpp"
#include "sanitizer/system/processor.hpp"

namespace fencepost {

// A thread meets others at a location: it finds the lock taken, changes what others have changed, or waits
// for them in a loop. Threads that use the same location all the time take its cache lines from each other:
// all together may get less done than the others alone while this one sleeps. But sleep does harm if they
// only meet now and then, or if the others wait for this thread, which may hold a lock of the program.
// Counting the changes to what the lock protects tells these cases apart. They depend on what the thread is
// about to do, so each operation has its own backoff.
class alignas(64) ContentionBackoff {
  public:
    bool is_about(Lock const* lock, void const* operation) const {
        return lock == lock_ && operation == operation_;
    }
    void begin(Lock const* lock, void const* operation) {
        *this = {};
        lock_ = lock;
        operation_ = operation;
    }

    // Another was met, after so many changes.
    bool advises_sleep(std::uint32_t changes) {
        if (++met_ == 2 && moment_ == 0) go_on_to(changes);  // most have only one meeting
        if (met_ <= to_bear_) return false;
        Pace const pace = go_on_to(changes);
        together_.changes += pace.changes;
        together_.ticks += pace.ticks;
        return true;
    }
    void add_sleep(std::uint32_t changes) {
        Pace const alone = go_on_to(changes);
        if (alone.changes * together_.ticks > together_.changes * alone.ticks)
            to_bear_ /= 2;
        else if (to_bear_ < most_to_bear)
            to_bear_ = 2 * to_bear_ + 1;
        met_ = 0;
        together_.changes /= 2;
        together_.ticks /= 2;
    }

  private:
    struct Pace {
        std::uint64_t changes, ticks;
    };
    Pace go_on_to(std::uint32_t changes) {
        std::uint64_t const now = now_in_ticks();
        Pace const pace{(changes - changes_) & Lock::most_changes, now - moment_};
        changes_ = changes;
        moment_ = now;
        return pace;
    }

    static constexpr std::uint32_t most_to_bear = 10'000;

    Lock const* lock_ = nullptr;
    void const* operation_ = nullptr;
    std::uint64_t moment_ = 0;
    Pace together_ = {};  // while it was awake; what is long ago counts less
    std::uint32_t changes_ = 0;
    std::uint32_t met_ = 0, to_bear_ = 7;  // so often before the next sleep
};

// All zero: none yet. New ones replace old ones.
class ContentionBackoffs {
  public:
    ContentionBackoff& with(Lock const* lock, void const* operation) {
        auto const where = reinterpret_cast<std::uintptr_t>(lock),
                   what = reinterpret_cast<std::uintptr_t>(operation);
        ContentionBackoff& mine = all_[(where / 128 + what) * 0x9e3779b97f4a7c15u >> (64 - bits)];
        if (!mine.is_about(lock, operation)) mine.begin(lock, operation);
        return mine;
    }

  private:
    static constexpr unsigned bits = 7;
    ContentionBackoff all_[std::size_t{1} << bits];
};

// Null as long as the thread has none.
extern constinit thread_local ContentionBackoffs* own_backoffs [[gnu::tls_model("initial-exec")]];

}  // namespace fencepost
