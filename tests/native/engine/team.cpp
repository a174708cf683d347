// Workers do each task once, in ascending order each, and report the failure of the first task that fails.
//
// links: engine/search/team.cpp
#include "engine/search/team.hpp"

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/native/check.hpp"

using namespace fencepost;

namespace {

void each_task_is_done_once(Team& team, std::size_t count) {
    std::vector<std::atomic<int>> done(count);
    std::vector<std::size_t> next(team.size());  // the least number that a worker may still take
    std::atomic<bool> ascending = true;
    team.each(count, [&](std::size_t task, std::size_t worker) {
        ++done[task];
        if (task < next[worker]) ascending = false;
        next[worker] = task + 1;
    });
    for (auto const& times : done) CHECK(times == 1);
    CHECK(ascending);
}

void the_first_failure_is_thrown(Team& team) {
    std::string said;
    try {
        team.each(100, [](std::size_t task, std::size_t) {
            if (task % 7 == 3) throw std::runtime_error(std::to_string(task));
        });
    } catch (std::runtime_error const& failure) {
        said = failure.what();
    }
    CHECK(said == "3");
}

}  // namespace

int main() {
    for (std::size_t workers : {1, 2, 5}) {
        Team team(workers);
        CHECK(team.size() == workers);
        for (int round = 0; round < 200; ++round)
            for (std::size_t count : {0, 1, 2, 7, 64}) each_task_is_done_once(team, count);
        if (workers > 1) the_first_failure_is_thrown(team);
        each_task_is_done_once(team, 10);
    }
}
