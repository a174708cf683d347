// Mode races knows no schedules: the program's threads run as the system lets them, because ThreadSanitizer
// must see them run.
#include "sanitizer/schedule/scheduler.hpp"
#include "sanitizer/system/syscalls.hpp"

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
bool is_new_line(std::uint64_t) {
    return true;
}
bool is_known(std::uint64_t) {
    return false;
}
void note_known(std::uint64_t) {}
void count_atomics(std::uint64_t) {}
void exit_point() {}
bool is_one_of_many() {
    return false;
}
void end_process(int code) {
    for (;;) kernel::call(SYS_exit_group, code);
}
bool lends_threads() {
    return false;
}
int create_lent(ThreadId, pthread_t*, pthread_attr_t const*, void* (*)(void*), void*) {
    return 0;
}
std::uint32_t choose_write(std::uint32_t) {
    return 0;
}
std::uint64_t steps() {
    return 0;
}

}  // namespace fencepost::scheduler
