// System calls that may block until the world, or another thread, does something: input and output, waiting
// for descriptors, waiting for processes. Under a schedule a call that would block waits in the scheduler, so
// that the other threads run on; it is then made when it can be answered. The C library's own reads and
// writes (of FILE streams) do not pass here: they block the schedule until they are answered.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "sanitizer/core/threads.hpp"
#include "sanitizer/hooks/interpose.hpp"
#include "sanitizer/races/feed.hpp"
#include "sanitizer/schedule/execution.hpp"
#include "sanitizer/schedule/scheduler.hpp"
#include "sanitizer/schedule/state.hpp"
#include "sanitizer/schedule/time.hpp"
#include "sanitizer/system/real.hpp"
#include "sanitizer/system/syscalls.hpp"

namespace fencepost::scheduler {
namespace {

constexpr timespec at_once{};

bool alone() {
    return detail::runnable.count + detail::blocked.count == 1;
}

bool some_event(void* argument) {
    return kernel::call(SYS_ppoll, argument, 1, &at_once, nullptr, 0) != 0;
}

// Returns when a call on the descriptor would not block, or should not wait.
void await_descriptor(int descriptor, short events) {
    if (!active() || alone()) return;
    point();
    execution::note_untried(execution::outside);
    pollfd asked{descriptor, events, 0};
    if (some_event(&asked)) return;
    if ((kernel::call(SYS_fcntl, descriptor, F_GETFL) & O_NONBLOCK) != 0) return;
    Wait wait{some_event, &asked, nullptr, events == POLLIN ? "input" : "output"};
    wait.outside = true;
    detail::block_or_be_cancelled(wait);
}

struct Descriptors {
    pollfd* list;
    nfds_t count;
};

bool some_descriptor_has_events(void* argument) {
    auto const& asked = *static_cast<Descriptors*>(argument);
    return kernel::call(SYS_ppoll, asked.list, asked.count, &at_once, nullptr, 0) != 0;
}

// Returns when one of the descriptors has events, or the time has come.
void await_descriptors(pollfd* list, nfds_t count, std::int64_t deadline) {
    point();
    execution::note_untried(execution::outside);
    Descriptors asked{list, count};
    Wait wait{some_descriptor_has_events, &asked, nullptr, "descriptors"};
    wait.deadline = deadline;
    wait.outside = count != 0;
    wait.interruptible = true;
    detail::block_or_be_cancelled(wait);
}

std::int64_t after_milliseconds(int timeout) {
    return timeout < 0 ? never : later(now(), timeout * 1'000'000ll);
}

struct Selection {
    int count;
    fd_set* sets[3];
};

// The kernel overwrites the sets it is asked about.
bool some_selected_has_events(void* argument) {
    auto const& asked = *static_cast<Selection*>(argument);
    fd_set copies[3];
    fd_set* copied[3] = {};
    for (int i = 0; i < 3; ++i) {
        if (asked.sets[i] == nullptr) continue;
        copies[i] = *asked.sets[i];
        copied[i] = &copies[i];
    }
    return kernel::call(SYS_pselect6, asked.count, copied[0], copied[1], copied[2], &at_once, nullptr) != 0;
}

bool await_selection(Selection asked, std::int64_t deadline) {
    if (!active() || alone() || asked.count > FD_SETSIZE) return false;
    point();
    execution::note_untried(execution::outside);
    Wait wait{some_selected_has_events, &asked, nullptr, "descriptors"};
    wait.deadline = deadline;
    wait.outside = asked.count != 0;
    wait.interruptible = true;
    detail::block_or_be_cancelled(wait);
    return true;
}

struct Child {
    idtype_t type;
    id_t id;
    int options;
};

// Also true if there is nothing to wait for.
bool child_has_changed(void* argument) {
    auto const& child = *static_cast<Child*>(argument);
    siginfo_t info{};
    long const error =
        kernel::call(SYS_waitid, child.type, child.id, &info, child.options | WNOHANG | WNOWAIT, nullptr);
    return error != 0 || info.si_pid != 0;
}

void await_child(Child child) {
    if (!active() || alone() || (child.options & WNOHANG) != 0) return;
    point();
    execution::note_untried(execution::outside);
    Wait wait{child_has_changed, &child, nullptr, "end of a process"};
    wait.outside = true;
    detail::block_or_be_cancelled(wait);
}

Child child_of_wait4(pid_t process, int options) {
    int const changes = WEXITED | (options & (WNOHANG | WCONTINUED)) | (options & WUNTRACED ? WSTOPPED : 0);
    if (process > 0) return {P_PID, static_cast<id_t>(process), changes};
    if (process == -1) return {P_ALL, 0, changes};
    return {P_PGID, static_cast<id_t>(-process), changes};
}

// What passes through descriptors orders accesses, for the race detector. It is not known from which one it
// comes out again, so all are taken for one: a race may be missed, but none is made up.
RaceMessage passed_on_by_descriptors;

void pass_on() {
    Hook hook;
    if (hook) races::release_object(hook.thread(), passed_on_by_descriptors);
}

template <class Result>
Result received(Result result) {
    Hook hook;
    if (hook) races::acquire_object(hook.thread(), passed_on_by_descriptors);
    return result;
}

}  // namespace
}  // namespace fencepost::scheduler

using namespace fencepost::scheduler;

FENCEPOST_INTERPOSE ssize_t read(int descriptor, void* buffer, size_t bytes) {
    await_descriptor(descriptor, POLLIN);
    return received(REAL(read)(descriptor, buffer, bytes));
}

FENCEPOST_INTERPOSE ssize_t readv(int descriptor, iovec const* pieces, int count) {
    await_descriptor(descriptor, POLLIN);
    return received(REAL(readv)(descriptor, pieces, count));
}

FENCEPOST_INTERPOSE ssize_t recv(int socket, void* buffer, size_t bytes, int flags) {
    if ((flags & MSG_DONTWAIT) == 0) await_descriptor(socket, POLLIN);
    return received(REAL(recv)(socket, buffer, bytes, flags));
}

FENCEPOST_INTERPOSE ssize_t recvfrom(int socket, void* __restrict buffer, size_t bytes, int flags,
                                     sockaddr* __restrict from, socklen_t* __restrict size) {
    if ((flags & MSG_DONTWAIT) == 0) await_descriptor(socket, POLLIN);
    return received(REAL(recvfrom)(socket, buffer, bytes, flags, from, size));
}

FENCEPOST_INTERPOSE ssize_t recvmsg(int socket, msghdr* message, int flags) {
    if ((flags & MSG_DONTWAIT) == 0) await_descriptor(socket, POLLIN);
    return received(REAL(recvmsg)(socket, message, flags));
}

FENCEPOST_INTERPOSE int accept(int socket, sockaddr* __restrict from, socklen_t* __restrict size) {
    await_descriptor(socket, POLLIN);
    return received(REAL(accept)(socket, from, size));
}

FENCEPOST_INTERPOSE int accept4(int socket, sockaddr* __restrict from, socklen_t* __restrict size,
                                int flags) {
    await_descriptor(socket, POLLIN);
    return received(REAL(accept4)(socket, from, size, flags));
}

FENCEPOST_INTERPOSE ssize_t write(int descriptor, void const* buffer, size_t bytes) {
    await_descriptor(descriptor, POLLOUT);
    pass_on();
    return REAL(write)(descriptor, buffer, bytes);
}

FENCEPOST_INTERPOSE ssize_t writev(int descriptor, iovec const* pieces, int count) {
    await_descriptor(descriptor, POLLOUT);
    pass_on();
    return REAL(writev)(descriptor, pieces, count);
}

FENCEPOST_INTERPOSE ssize_t send(int socket, void const* buffer, size_t bytes, int flags) {
    if ((flags & MSG_DONTWAIT) == 0) await_descriptor(socket, POLLOUT);
    pass_on();
    return REAL(send)(socket, buffer, bytes, flags);
}

FENCEPOST_INTERPOSE ssize_t sendto(int socket, void const* buffer, size_t bytes, int flags,
                                   sockaddr const* to, socklen_t size) {
    if ((flags & MSG_DONTWAIT) == 0) await_descriptor(socket, POLLOUT);
    pass_on();
    return REAL(sendto)(socket, buffer, bytes, flags, to, size);
}

FENCEPOST_INTERPOSE ssize_t sendmsg(int socket, msghdr const* message, int flags) {
    if ((flags & MSG_DONTWAIT) == 0) await_descriptor(socket, POLLOUT);
    pass_on();
    return REAL(sendmsg)(socket, message, flags);
}

FENCEPOST_INTERPOSE int poll(pollfd* list, nfds_t count, int timeout) {
    if (!active()) return REAL(poll)(list, count, timeout);
    await_descriptors(list, count, after_milliseconds(timeout));
    return REAL(poll)(list, count, 0);
}

FENCEPOST_INTERPOSE int epoll_wait(int descriptor, epoll_event* events, int most, int timeout) {
    if (!active()) return REAL(epoll_wait)(descriptor, events, most, timeout);
    pollfd asked{descriptor, POLLIN, 0};
    await_descriptors(&asked, 1, after_milliseconds(timeout));
    return REAL(epoll_wait)(descriptor, events, most, 0);
}

FENCEPOST_INTERPOSE int select(int count, fd_set* __restrict in, fd_set* __restrict out,
                               fd_set* __restrict except, timeval* __restrict timeout) {
    std::int64_t const deadline =
        timeout == nullptr ? never
                           : later(now(), timeout->tv_sec * 1'000'000'000ll + timeout->tv_usec * 1000ll);
    timeval none{};
    bool const waited = await_selection({count, {in, out, except}}, deadline);
    return REAL(select)(count, in, out, except, waited ? &none : timeout);
}

FENCEPOST_INTERPOSE pid_t waitpid(pid_t process, int* status, int options) {
    await_child(child_of_wait4(process, options));
    return REAL(waitpid)(process, status, options);
}

FENCEPOST_INTERPOSE pid_t wait4(pid_t process, int* status, int options, rusage* usage) noexcept {
    await_child(child_of_wait4(process, options));
    return REAL(wait4)(process, status, options, usage);
}

FENCEPOST_INTERPOSE pid_t wait(int* status) {
    await_child(child_of_wait4(-1, 0));
    return REAL(wait)(status);
}

FENCEPOST_INTERPOSE int waitid(idtype_t type, id_t id, siginfo_t* info, int options) {
    await_child({type, id, options});
    return REAL(waitid)(type, id, info, options);
}

// A thread that holds the lock of a FILE keeps its turn, because the C library's own functions wait for it
// unseen.
FENCEPOST_INTERPOSE void flockfile(FILE* file) noexcept {
    if (active()) ++detail::self->pinned;
    REAL(flockfile)(file);
}

FENCEPOST_INTERPOSE int ftrylockfile(FILE* file) noexcept {
    int const error = REAL(ftrylockfile)(file);
    if (active() && error == 0) ++detail::self->pinned;
    return error;
}

FENCEPOST_INTERPOSE void funlockfile(FILE* file) noexcept {
    REAL(funlockfile)(file);
    if (active() && detail::self->pinned != 0) --detail::self->pinned;
}
