// A lock of one word. It is held for some dozen instructions; who finds it taken looks again, and soon lets
// others run, because the holder may have lost the processor.
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

struct Lock {
    std::uint32_t word = 0;

    void lock() {
        if (__atomic_exchange_n(&word, 1, __ATOMIC_ACQUIRE) != 0) wait();
    }
    void unlock() { __atomic_store_n(&word, 0, __ATOMIC_RELEASE); }

  private:
    [[gnu::noinline]] void wait() {
        for (int round = 0;; ++round) {
            if (__atomic_load_n(&word, __ATOMIC_RELAXED) == 0 &&
                __atomic_exchange_n(&word, 1, __ATOMIC_ACQUIRE) == 0)
                return;
            if (round < 64)
                pause_processor();
            else
                let_others_run();
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
