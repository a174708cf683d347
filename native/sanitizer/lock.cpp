#include "lock.hpp"

#include "processor.hpp"

namespace holdfast {
namespace {

// How a thread fares at a location where it meets others: it finds the lock taken, or comes to change what
// they have changed, or waits for them in a loop. Threads that want the same locations all the time take the
// lines from each other: all together may do less than the others alone while this one sleeps. But sleep does
// harm if they only meet now and then, or if the others wait for the one that sleeps, because it has the
// program's own lock, or it is its turn. Which of these it is shows when the changes to what the lock
// protects are counted. It depends on what the thread is about to do, so each operation has its own
// experience.
class Experience {
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
        if (moment_ == 0) go_on_to(changes);
        if (++met_ <= to_bear_) return false;
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

constexpr std::size_t experiences = 64;
constinit thread_local Experience experience[experiences] [[gnu::tls_model("initial-exec")]] = {};

Experience& experience_with(Lock const* lock, void const* operation) {
    auto const where = reinterpret_cast<std::uintptr_t>(lock),
               what = reinterpret_cast<std::uintptr_t>(operation);
    Experience& mine = experience[(where / 128 * 7 + what / 64 + what * 13) % experiences];
    if (!mine.is_about(lock, operation)) mine.begin(lock, operation);
    return mine;
}

constexpr int rounds_of_looking = 300, rounds_of_letting_run = 4;
constexpr int rounds_of_patience = 3000;  // of a millisecond

// The shortest sleep that the kernel has, some fifty microseconds.
void nap() {
    sleep_for(1'000);
}

}  // namespace

bool Lock::advises_sleep(void const* operation) const {
    return experience_with(this, operation).advises_sleep(changes());
}
void Lock::sleep(void const* operation) const {
    nap();
    experience_with(this, operation).add_sleep(changes());
}

// Who meets others again and again may sleep first. Then it looks for some time, as long
// as several holders need; then it lets others run, because the holder may have lost the processor; if that
// does not help, it sleeps, because others than the holder may run first.
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

}  // namespace holdfast
