#include "engine/search/team.hpp"

#include <new>
#include <system_error>
#include <utility>

namespace fencepost {

namespace {

constexpr std::size_t over = SIZE_MAX;

// Waits until the number is not `from` any more; returns the new one.
std::size_t await_change(std::atomic<std::size_t> const& number, std::size_t from, Patience patience) {
    do {
        if (auto const now = number.load(std::memory_order_acquire); now != from) return now;
    } while (patience.goes_on());
    number.wait(from, std::memory_order_acquire);
    return number.load(std::memory_order_acquire);
}

}  // namespace

Team::Team(std::size_t workers) : patience_(workers) {
    // Where the system gives no more threads, fewer do the same. An exception would wait for those that are
    // there, which wait for tasks.
    try {
        for (std::size_t n = 1; n < workers; ++n) helpers_.emplace_back([this, n] { help(n); });
    } catch (std::system_error const&) {
        return;
    } catch (std::bad_alloc const&) {
        return;
    }
}

Team::~Team() {
    open_.store(over, std::memory_order_release);
    open_.notify_all();
}

void Team::each(std::size_t count, Task const& task) {
    if (helpers_.empty() || count == 1) {
        for (std::size_t i = 0; i < count; ++i) task(i, 0);
        return;
    }
    if (count == 0) return;
    task_ = &task;
    count_ = count;
    undone_.store(count, std::memory_order_relaxed);
    open_.store(count, std::memory_order_release);
    open_.notify_all();
    do_tasks(0);
    for (auto undone = count; undone != 0;) undone = await_change(undone_, undone, patience_);
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Team::help(std::size_t worker) {
    while (await_change(open_, 0, patience_) != over) do_tasks(worker);
}

// Until none is open.
void Team::do_tasks(std::size_t worker) {
    std::size_t done = 0;
    for (auto open = open_.load(std::memory_order_relaxed); open != 0 && open != over;) {
        if (!open_.compare_exchange_weak(open, open - 1, std::memory_order_acq_rel)) continue;
        do_one(count_ - open, worker);
        ++done;
        open = open_.load(std::memory_order_relaxed);
    }
    if (done != 0 && undone_.fetch_sub(done, std::memory_order_acq_rel) == done) undone_.notify_one();
}

void Team::do_one(std::size_t number, std::size_t worker) {
    try {
        (*task_)(number, worker);
    } catch (...) {
        std::lock_guard const hold(mutex_);
        if (!failure_ || number < failed_task_) {
            failure_ = std::current_exception();
            failed_task_ = number;
        }
    }
}

}  // namespace fencepost
