// States that wait to be expanded and that no worker has to itself. Who has many puts some in while another
// one is idle.
//
// The search is over when all workers are idle and the bag is empty. A worker becomes idle under the mutex,
// when its own list and the bag are empty, and puts nothing in before it has taken something out. So when the
// last worker becomes idle, no state waits anywhere, and nobody is left who could make one.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "engine/state/store.hpp"

namespace fencepost {

class Bag {
  public:
    using Portion = std::vector<StateNumber>;

    explicit Bag(std::size_t workers) : workers_(workers) {}

    // Whether an idle worker would find nothing; may lag behind a little.
    bool is_wanted() const {
        return idle_.load(std::memory_order_relaxed) > filled_.load(std::memory_order_relaxed);
    }
    void put(Portion portion) {
        std::lock_guard const hold(mutex_);
        portions_.push_back(std::move(portion));
        filled_.store(portions_.size(), std::memory_order_relaxed);
    }

    // For a worker that has nothing left: takes a portion, or else makes it idle.
    bool take_or_rest(Portion& portion) {
        std::lock_guard const hold(mutex_);
        if (take(portion)) return true;
        if (idle_.fetch_add(1, std::memory_order_relaxed) + 1 == workers_) is_over_ = true;
        return false;
    }
    // For an idle one.
    bool take_and_work(Portion& portion) {
        if (filled_.load(std::memory_order_relaxed) == 0) return false;
        std::lock_guard const hold(mutex_);
        if (!take(portion)) return false;
        idle_.fetch_sub(1, std::memory_order_relaxed);
        return true;
    }
    bool is_over() const { return is_over_.load(std::memory_order_relaxed); }

    // While nobody works: what is in it; and that nobody is idle any more.
    std::vector<Portion> const& portions() const { return portions_; }
    void open_again() { idle_ = 0; }

  private:
    bool take(Portion& portion) {
        if (portions_.empty()) return false;
        portion = std::move(portions_.back());
        portions_.pop_back();
        filled_.store(portions_.size(), std::memory_order_relaxed);
        return true;
    }

    std::size_t workers_;
    std::mutex mutex_;
    std::vector<Portion> portions_;
    alignas(64) std::atomic<std::size_t> idle_ = 0;
    std::atomic<std::size_t> filled_ = 0;
    std::atomic<bool> is_over_ = false;
};

}  // namespace fencepost
