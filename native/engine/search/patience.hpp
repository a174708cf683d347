// How long a worker looks for something to do before it sleeps.
//
// To wake up takes about 50 microseconds, several times as long as a worker mostly has to wait. So where
// every worker has a processor to itself, it keeps looking for a while; else the others need the processor.
#pragma once

#include <chrono>
#include <cstddef>
#include <thread>

namespace fencepost {

class Patience {
  public:
    explicit Patience(std::size_t workers)
        : most_(workers <= std::thread::hardware_concurrency() ? Clock::duration(std::chrono::milliseconds(1))
                                                               : Clock::duration::zero()) {}

    // To be called between two looks; false when it is time to sleep.
    bool goes_on() {
        if (looks_ == 0) start_ = Clock::now();
        ++looks_;
        if (looks_ % looks_between_yields != 0 && most_ > Clock::duration::zero()) {
            pause();
            return true;
        }
        std::this_thread::yield();
        return looks_ < least_looks || Clock::now() - start_ < most_;
    }
    void begin_again() { looks_ = 0; }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t least_looks = 100;  // some ten microseconds
    static constexpr std::size_t looks_between_yields = 32;

    static void pause() {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        asm volatile("yield");
#endif
    }

    Clock::duration most_;
    Clock::time_point start_;
    std::size_t looks_ = 0;
};

}  // namespace fencepost
