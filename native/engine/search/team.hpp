// Workers who do tasks of one kind together, and then wait for each other.
//
// Tasks are numbered. Their results should depend on these numbers alone, not on the worker: then a search
// made of such tasks is the same for any number of workers.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/search/patience.hpp"

namespace fencepost {

class Team {
  public:
    // Does the task of this number, as this worker.
    using Task = std::function<void(std::size_t, std::size_t)>;

    explicit Team(std::size_t workers);
    Team(Team const&) = delete;
    Team& operator=(Team const&) = delete;
    ~Team();

    std::size_t size() const { return helpers_.size() + 1; }

    // Does tasks 0 to count - 1, of which each worker takes one after the other, in ascending order; the
    // caller is worker 0. If tasks throw, throws what the first of them has thrown.
    void each(std::size_t count, Task const& task);

  private:
    void help(std::size_t worker);
    void do_tasks(std::size_t worker);
    void do_one(std::size_t number, std::size_t worker);

    // A task is claimed by counting down `open_`. New tasks are not handed out while one is claimed and not
    // done, so a worker that has claimed one can read `task_` and `count_`.
    Patience const patience_;
    Task const* task_ = nullptr;
    std::size_t count_ = 0;
    alignas(64) std::atomic<std::size_t> open_ = 0;
    alignas(64) std::atomic<std::size_t> undone_ = 0;
    std::mutex mutex_;
    std::exception_ptr failure_;
    std::size_t failed_task_ = 0;
    std::vector<std::jthread> helpers_;  // last: they use all the others
};

}  // namespace fencepost
