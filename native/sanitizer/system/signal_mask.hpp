// The signal mask of a kernel thread, and code that no signal handler of the program may interrupt: it holds
// a lock of the library while the thread counts as outside hooks (core/threads.hpp), or is not known yet.
#pragma once

#include <signal.h>

#include <cstdint>

#include "sanitizer/system/syscalls.hpp"

namespace fencepost {

// The mask until now.
inline std::uint64_t exchange_signal_mask(std::uint64_t mask) {
    std::uint64_t before = 0;
    kernel::call(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before, sizeof mask);
    return before;
}

class SignalsBlocked {
  public:
    SignalsBlocked() : before_(exchange_signal_mask(~std::uint64_t{0})) {}
    ~SignalsBlocked() { exchange_signal_mask(before_); }
    SignalsBlocked(SignalsBlocked const&) = delete;
    SignalsBlocked& operator=(SignalsBlocked const&) = delete;

    std::uint64_t before() const { return before_; }

  private:
    std::uint64_t before_;
};

}  // namespace fencepost
