// A lock of one word. It is held for some dozen instructions; who finds it taken looks again, and soon lets
// others run, because the holder may have lost the processor; if that does not help, it sleeps, because
// others than the holder may run first. Sleep also takes threads apart that want the same locations all the
// time: one that is alone for a while does more than two that take the lines from each other.
#pragma once

#include <cstdint>

#include "scheduler_kernel.hpp"

namespace holdfast {

inline void pause_processor() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

inline void let_others_run() {
    scheduler::kernel::call(SYS_sched_yield);
}

inline void sleep_for(long nanoseconds) {
    timespec const time{0, nanoseconds};
    scheduler::kernel::call(SYS_nanosleep, &time, nullptr);
}
inline void sleep_a_millisecond() {
    sleep_for(1'000'000);
}

// A signal that ends the process may find its own thread with a lock in its hands, or stop for ever the one
// that has it. Who tells the last findings then waits for a lock only for some time, and goes on without it.
inline long impatient_thread = 0;  // by its number of the kernel
class ImpatientThread {
  public:
    ImpatientThread() { set(scheduler::kernel::call(SYS_gettid)); }
    ~ImpatientThread() { set(0); }
    ImpatientThread(ImpatientThread const&) = delete;
    ImpatientThread& operator=(ImpatientThread const&) = delete;

    static bool is_this() {
        long const one = __atomic_load_n(&impatient_thread, __ATOMIC_RELAXED);
        return one != 0 && one == scheduler::kernel::call(SYS_gettid);
    }

  private:
    static void set(long number) { __atomic_store_n(&impatient_thread, number, __ATOMIC_RELAXED); }
};

struct Lock {
    std::uint32_t word = 0;

    void lock() {
        if (__atomic_exchange_n(&word, 1, __ATOMIC_ACQUIRE) != 0) wait();
    }
    void unlock() { __atomic_store_n(&word, 0, __ATOMIC_RELEASE); }
    bool is_locked() const { return __atomic_load_n(&word, __ATOMIC_ACQUIRE) != 0; }

  private:
    static constexpr int rounds_of_looking = 16, rounds_of_letting_run = 4;
    static constexpr int rounds_of_patience = 3000;  // of a millisecond

    [[gnu::noinline]] void wait() {
        for (int round = 0;; ++round) {
            if (__atomic_load_n(&word, __ATOMIC_RELAXED) == 0 &&
                __atomic_exchange_n(&word, 1, __ATOMIC_ACQUIRE) == 0)
                return;
            if (round < rounds_of_looking)
                pause_processor();
            else if (ImpatientThread::is_this()) {
                if (round == rounds_of_patience) return;
                sleep_a_millisecond();
            } else if (round < rounds_of_looking + rounds_of_letting_run)
                let_others_run();
            else
                sleep_for(1'000);
        }
    }
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

}  // namespace holdfast
