#include "sanitizer/schedule/system_calls.hpp"

#include <errno.h>
#include <linux/futex.h>

#include "sanitizer/schedule/state.hpp"
#include "sanitizer/schedule/time.hpp"
#include "sanitizer/schedule/waits.hpp"
#include "sanitizer/system/syscalls.hpp"

namespace fencepost::scheduler {
namespace {

struct FutexCall {
    std::uint32_t* word;
    int operation;
    std::uint32_t value;
    timespec const* timeout;  // of FUTEX_REQUEUE: a number
    std::uint32_t third;
};

std::int64_t deadline(FutexCall const& call, bool absolute) {
    if (call.timeout == nullptr) return never;
    if (!absolute) return later(now(), nanoseconds(*call.timeout));
    return schedule_time(*call.timeout,
                         (call.operation & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC);
}

long wait(FutexCall const& call, std::uint32_t bits, bool absolute) {
    if (__atomic_load_n(call.word, __ATOMIC_SEQ_CST) != call.value) return -EAGAIN;
    Wait waiting{nullptr, nullptr, call.word, "futex"};
    waiting.deadline = deadline(call, absolute);
    waiting.may_end_early = true;
    if (detail::chosen_to_run_out(waiting)) return -ETIMEDOUT;
    return detail::block_until_chosen(waiting, bits) ? 0 : -ETIMEDOUT;
}

// Other processes, and threads beside the schedule, wait in the kernel.
long wake_here_and_there(FutexCall const& call, std::uint32_t count, std::uint32_t bits) {
    std::uint32_t const here = detail::choose_waiting(call.word, count, bits);
    if (here == count) return here;
    int const operation = FUTEX_WAKE_BITSET | (call.operation & FUTEX_PRIVATE_FLAG);
    long const there = kernel::call(SYS_futex, call.word, operation, count - here, nullptr, nullptr, bits);
    return there < 0 ? there : here + there;
}

// Waking instead of moving to another futex is allowed: a woken thread must look at its word again anyway.
long wake_and_move(FutexCall const& call) {
    auto const moved = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(call.timeout));
    std::uint32_t const most = UINT32_MAX - call.value;
    return wake_here_and_there(call, call.value + (moved < most ? moved : most), detail::all_bits);
}

// False for the operations that are the kernel's.
bool futex(FutexCall const& call, long& result) {
    Operation next;
    next.act = Act::use;
    next.object = call.word;
    next.size = sizeof *call.word;
    point(next);
    switch (call.operation & FUTEX_CMD_MASK) {
        case FUTEX_WAIT:
            result = wait(call, detail::all_bits, false);
            return true;
        case FUTEX_WAIT_BITSET:
            result = call.third == 0 ? -EINVAL : wait(call, call.third, true);
            return true;
        case FUTEX_WAKE:
            result = wake_here_and_there(call, call.value, detail::all_bits);
            return true;
        case FUTEX_WAKE_BITSET:
            result = call.third == 0 ? -EINVAL : wake_here_and_there(call, call.value, call.third);
            return true;
        case FUTEX_REQUEUE:
            result = wake_and_move(call);
            return true;
        case FUTEX_CMP_REQUEUE:
            result =
                __atomic_load_n(call.word, __ATOMIC_SEQ_CST) != call.third ? -EAGAIN : wake_and_move(call);
            return true;
        default:
            return false;
    }
}

}  // namespace

void fill_by_chance(void* buffer, std::size_t bytes) {
    auto* const to = static_cast<unsigned char*>(buffer);
    for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<unsigned char>(draw(256));
}

bool system_call(long number, long const (&a)[6], long& result) {
    switch (number) {
        case SYS_futex:
            return futex({reinterpret_cast<std::uint32_t*>(a[0]), static_cast<int>(a[1]),
                          static_cast<std::uint32_t>(a[2]), reinterpret_cast<timespec const*>(a[3]),
                          static_cast<std::uint32_t>(a[5])},
                         result);
        case SYS_gettid:
            result = detail::self->fiber.tid;
            return true;
        case SYS_sched_yield:
            yield_point();
            result = 0;
            return true;
        case SYS_getrandom:
            fill_by_chance(reinterpret_cast<void*>(a[0]), static_cast<std::size_t>(a[1]));
            result = a[1];
            return true;
        default:
            return false;
    }
}

}  // namespace fencepost::scheduler
