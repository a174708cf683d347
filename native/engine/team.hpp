// Workers who do tasks of one kind together, and then wait for each other.
//
// Tasks are numbered, and what they do depends on their numbers alone, never on who does them: so a search
// that is made of such tasks is the same search for any number of workers.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace holdfast {

class Team {
  public:
    // The caller of `each` is one of them.
    explicit Team(std::size_t workers);
    Team(Team const&) = delete;
    Team& operator=(Team const&) = delete;
    ~Team();

    // Does task(0), …, task(count - 1). Throws what the first of those that failed has thrown.
    void each(std::size_t count, std::function<void(std::size_t)> task);

  private:
    void help();
    bool do_one();

    // A task is claimed by counting down `open_`. Whoever has claimed one keeps the others from going on to
    // new tasks, so it can read what these are.
    std::function<void(std::size_t)> task_;
    std::size_t count_ = 0;
    alignas(64) std::atomic<std::size_t> open_ = 0;
    alignas(64) std::atomic<std::size_t> undone_ = 0;
    std::mutex mutex_;
    std::exception_ptr failure_;
    std::size_t failed_task_ = 0;
    std::vector<std::jthread> helpers_;  // last: they use all the others
};

}  // namespace holdfast
