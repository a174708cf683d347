// A lock of one word. It is held for some dozen instructions.
#pragma once

#include <cstdint>

#include "sanitizer/system/syscalls.hpp"

namespace fencepost {

inline void let_others_run() {
    kernel::call(SYS_sched_yield);
}

inline void sleep_for(long nanoseconds) {
    timespec const time{0, nanoseconds};
    kernel::call(SYS_nanosleep, &time, nullptr);
}
inline void sleep_a_millisecond() {
    sleep_for(1'000'000);
}

// A signal that ends the process may find its own thread with a lock in its hands, or stop for ever the one
// that has it. The thread that reports the last findings then waits for a lock only for some time, and goes
// on without it.
inline long impatient_thread = 0;  // by its number of the kernel
class ImpatientThread {
  public:
    ImpatientThread() { set(kernel::call(SYS_gettid)); }
    ~ImpatientThread() { set(0); }
    ImpatientThread(ImpatientThread const&) = delete;
    ImpatientThread& operator=(ImpatientThread const&) = delete;

    static bool is_this() {
        long const one = __atomic_load_n(&impatient_thread, __ATOMIC_RELAXED);
        return one != 0 && one == kernel::call(SYS_gettid);
    }

  private:
    static void set(long number) { __atomic_store_n(&impatient_thread, number, __ATOMIC_RELAXED); }
};

// The lowest bit says that it is taken, the others count the changes to what it protects, and go round.
class Lock {
  public:
    static constexpr std::uint32_t most_changes = UINT32_MAX >> 1;

    void lock() {
        if (!take()) wait();
    }
    void unlock() { __atomic_store_n(&word_, (word_ | taken) + 1, __ATOMIC_RELEASE); }
    bool is_locked() const { return (__atomic_load_n(&word_, __ATOMIC_ACQUIRE) & taken) != 0; }

    // For a thread that meets others here, before this operation: have they got more done when it slept for a
    // moment (system/contention_backoff.hpp)? Then it should sleep. The lock need not be held.
    bool advises_sleep(void const* operation) const;
    void sleep(void const* operation) const;

    // For callers that count changes themselves.
    void count_change() { __atomic_store_n(&word_, word_ + 2, __ATOMIC_RELAXED); }
    void unlock_as_counted() { __atomic_store_n(&word_, word_ & ~taken, __ATOMIC_RELEASE); }

  private:
    static constexpr std::uint32_t taken = 1;

    bool take() { return (__atomic_fetch_or(&word_, taken, __ATOMIC_ACQUIRE) & taken) == 0; }
    std::uint32_t changes() const { return __atomic_load_n(&word_, __ATOMIC_RELAXED) >> 1; }
    void wait();

    std::uint32_t word_ = 0;
};

class Locked {
  public:
    explicit Locked(Lock& lock) : lock_(lock) { lock_.lock(); }
    ~Locked() { lock_.unlock(); }
    Locked(Locked const&) = delete;
    Locked& operator=(Locked const&) = delete;

  private:
    Lock& lock_;
};

}  // namespace fencepost
