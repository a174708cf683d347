// Workers who do tasks of one kind together, and then wait for each other.
//
// Tasks are numbered. What comes of them should depend on their numbers alone, never on who does them: then a
// search that is made of such tasks is the same search for any number of workers.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

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

    // Does tasks 0 to count - 1, of which each worker takes one after the other; the caller is worker 0.
    // Throws what the first of those that failed has thrown.
    void each(std::size_t count, Task task);

  private:
    void help(std::size_t worker);
    bool do_one(std::size_t worker);

    // A task is claimed by counting down `open_`. Whoever has claimed one keeps the others from going on to
    // new tasks, so it can read what these are.
    Task task_;
    std::size_t count_ = 0;
    alignas(64) std::atomic<std::size_t> open_ = 0;
    alignas(64) std::atomic<std::size_t> undone_ = 0;
    std::mutex mutex_;
    std::exception_ptr failure_;
    std::size_t failed_task_ = 0;
    std::vector<std::jthread> helpers_;  // last: they use all the others
};

}  // namespace fencepost
