#include "lock.hpp"

#include "processor.hpp"

namespace holdfast {
namespace {

// How a thread fares with locks that it finds taken. Two threads that want the same locations all the time
// take the lines from each other: each does much more while the other one sleeps. But sleep does harm if the
// others wait for the one that sleeps, because it has the program's own lock, or it is its turn. Which of
// both it is shows afterwards: either what the lock protects has changed often meanwhile, or not. It depends
// on what the thread was about to do, so each location and each operation has experience of its own.
class Experience {
  public:
    // A lock was found taken.
    bool advises_sleep() {
        std::uint64_t const now = now_in_ticks();
        bool const again = now - last_ < soon;
        last_ = now;
        if (!again) return false;
        if (left_out_ == to_leave_out_) return true;
        ++left_out_;
        return false;
    }
    void add_sleep(std::uint32_t changes) {
        left_out_ = 0;
        if (changes >= worthwhile)
            to_leave_out_ /= 2;
        else if (to_leave_out_ < most_to_leave_out)
            to_leave_out_ = 2 * to_leave_out_ + 1;
    }

  private:
    static constexpr std::uint64_t soon = 100'000;  // ticks
    static constexpr std::uint32_t worthwhile = 16, most_to_leave_out = 1000;

    std::uint64_t last_ = 0;
    std::uint32_t left_out_ = 0, to_leave_out_ = 0;
};

constexpr std::size_t experiences = 64;
constinit thread_local Experience experience[experiences] [[gnu::tls_model("initial-exec")]] = {};

Experience& experience_with(Lock const* lock, void const* operation) {
    auto const where = reinterpret_cast<std::uintptr_t>(lock),
               what = reinterpret_cast<std::uintptr_t>(operation);
    return experience[(where / 256 * 7 + what / 64 + what * 13) % experiences];
}

constexpr int rounds_of_looking = 100, rounds_of_letting_run = 4;
constexpr int rounds_of_patience = 3000;  // of a millisecond

// The shortest sleep that the kernel has, some fifty microseconds.
void nap() {
    sleep_for(1'000);
}

}  // namespace

// Who finds the lock taken again and again may sleep first (see above). Then it looks for some time, as long
// as several holders need; then it lets others run, because the holder may have lost the processor; if that
// does not help, it sleeps, because others than the holder may run first.
[[gnu::noinline]] void Lock::wait() {
    if (Experience& mine = experience_with(this, __builtin_return_address(0)); mine.advises_sleep()) {
        std::uint32_t const before = changes();
        nap();
        mine.add_sleep((changes() - before) & (UINT32_MAX >> 1));
    }
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

}  // namespace holdfast
