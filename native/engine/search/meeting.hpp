// Where workers wait for each other, so that something can be done while none of them does anything else.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace fencepost {

class Meeting {
  public:
    explicit Meeting(std::size_t workers) : present_(workers) {}

    // Asks all to come, who look now and then whether they are wanted.
    void call() { is_called_.store(true, std::memory_order_relaxed); }
    bool is_called() const { return is_called_.load(std::memory_order_relaxed); }

    // Waits until all others have come or left. If all came, the last one does `alone` before anybody goes
    // on; else the ones that wait go on without it.
    template <class Alone>
    void attend(Alone alone) {
        std::unique_lock hold(mutex_);
        if (++arrived_ < present_) {
            changed_.wait(hold, [this, turn = turn_] { return turn_ != turn; });
            return;
        }
        is_called_.store(false, std::memory_order_relaxed);
        struct Release {
            Meeting& meeting;
            ~Release() { meeting.release(); }
        } const at_the_end{*this};
        alone();
    }
    // A worker that has left comes no more.
    void leave() {
        std::lock_guard const hold(mutex_);
        if (arrived_ == --present_) release();
    }
    // After all have left.
    void open_again(std::size_t workers) { present_ = workers; }

  private:
    void release() {
        arrived_ = 0;
        ++turn_;
        changed_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t present_, arrived_ = 0, turn_ = 0;
    std::atomic<bool> is_called_ = false;
};

}  // namespace fencepost
