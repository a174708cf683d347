// Mode races knows no schedules: the program's threads run as the system lets them, because ThreadSanitizer
// must see them run.
#include "sanitizer/schedule/scheduler.hpp"

namespace fencepost::scheduler {

void start(Settings const& settings) {
    if (settings.kind != Kind::os) report_no_schedules();
}

void thread_begins(ThreadId) {}
void thread_ends() {}
void forked() {}
void finish() {}
void wake(void const*) {}
bool is_news(std::uint64_t) {
    return true;
}
void count_atomics(std::uint64_t) {}
void exit_point() {}
std::uint32_t choose_write(std::uint32_t) {
    return 0;
}
std::uint64_t steps() {
    return 0;
}

}  // namespace fencepost::scheduler
