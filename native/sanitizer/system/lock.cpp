#include "sanitizer/system/lock.hpp"

#include "sanitizer/system/contention_backoff.hpp"
#include "sanitizer/system/processor.hpp"

namespace fencepost {

constinit thread_local ContentionBackoffs* own_backoffs [[gnu::tls_model("initial-exec")]] = nullptr;

namespace {

constexpr int rounds_of_looking = 300, rounds_of_letting_run = 4;
constexpr int rounds_of_patience = 3000;  // of a millisecond

// The shortest sleep that the kernel has, some fifty microseconds.
void nap() {
    sleep_for(1'000);
}

}  // namespace

bool Lock::advises_sleep(void const* operation) const {
    return own_backoffs != nullptr && own_backoffs->with(this, operation).advises_sleep(changes());
}
void Lock::sleep(void const* operation) const {
    nap();
    own_backoffs->with(this, operation).add_sleep(changes());
}

// A thread that meets others again and again may sleep first. Then it spins as long as several holders need;
// then it yields, because the holder may have lost the processor; if that does not help, it sleeps, because
// other threads than the holder may run first.
[[gnu::noinline]] void Lock::wait() {
    void const* const operation = __builtin_return_address(0);
    if (advises_sleep(operation)) sleep(operation);
    for (int round = 0; is_locked() || !take(); ++round) {
        if (round < rounds_of_looking)
            pause_processor();
        else if (ImpatientThread::is_this()) {
            if (round == rounds_of_patience) return;
            sleep_a_millisecond();
        } else if (round < rounds_of_looking + rounds_of_letting_run)
            let_others_run();
        else
            nap();
    }
}

}  // namespace fencepost
