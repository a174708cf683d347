#include "sanitizer/schedule/switch.hpp"

#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>

#include <cstddef>

#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/syscalls.hpp"

namespace fencepost::scheduler {
namespace {

constexpr std::size_t parking_bytes = 32 * 1024;  // room for a signal frame with all vector registers
// The C library's own signals are for each kernel thread: cancellation (32) and change of user (33).
constexpr std::uint64_t parked_mask = ~(std::uint64_t{1} << 31 | std::uint64_t{1} << 32);

bool in_user_space = false;
Fiber* carrier = nullptr;        // whose kernel thread runs everybody
std::uint64_t carrier_mask = 0;  // the signals which that one blocks
Fiber* returned = nullptr;       // has left; its kernel thread waits to take it back
std::int32_t departing = 0;      // a kernel thread that is about to end

void set_signal_mask(std::uint64_t mask) {
    kernel::call(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, sizeof mask);
}

std::uint64_t signal_mask() {
    std::uint64_t now = 0;
    kernel::call(SYS_rt_sigprocmask, SIG_SETMASK, nullptr, &now, sizeof now);
    return now;
}

void give_turn(Fiber& fiber) {
    __atomic_store_n(&fiber.turn, 1, __ATOMIC_RELEASE);
    kernel::futex_wake(&fiber.turn);
}

void await_turn(Fiber& fiber) {
    while (__atomic_load_n(&fiber.turn, __ATOMIC_ACQUIRE) == 0) kernel::futex_wait(&fiber.turn, 0);
    __atomic_store_n(&fiber.turn, 0, __ATOMIC_RELAXED);
}

// The end of a kernel thread frees its stack and its share of the heap. The schedule waits for that, so that
// the same schedule meets the same addresses; but not for long, as a late destructor may be waiting for it.
void await_departure() {
    if (departing == 0) return;
    long const process = kernel::call(SYS_getpid);
    timespec const pause{0, 50'000};
    for (int tries = 0; departing != process && tries < 300; ++tries) {
        if (kernel::call(SYS_tgkill, process, departing, 0) == -ESRCH) break;
        if (tries < 100)
            kernel::call(SYS_sched_yield);
        else
            kernel::call(SYS_nanosleep, &pause, nullptr);
    }
    departing = 0;
}

// First of all in a fiber that has been switched to.
void arrived(Fiber& self) {
    if (Fiber* fiber = returned) {
        returned = nullptr;
        give_turn(*fiber);
    }
    await_departure();
    if (in_user_space && self.signal_mask != carrier_mask) apply_signal_mask(self);
}

}  // namespace

#if defined(__x86_64__)

extern "C" {
void fencepost_switch(Fiber* from, Fiber* to);
void fencepost_park(Fiber* self);
}

static_assert(offsetof(Fiber, stack_pointer) == 0 && offsetof(Fiber, fs_base) == 8 &&
              offsetof(Fiber, parking_stack) == 16 && offsetof(Fiber, turn) == 24 &&
              offsetof(Fiber, parked) == 28);
static_assert(SYS_futex == 202 && FUTEX_WAIT_PRIVATE == 128 && FUTEX_WAKE_PRIVATE == 129);

// fencepost_switch keeps what the calling convention asks a function to keep, then goes on as `to`.
// fencepost_park keeps the same; its kernel thread then uses nothing of the fiber's stack until its turn
// comes, because the carrier does.
asm(R"(
    .text
    .p2align 4
    .type fencepost_switch, @function
fencepost_switch:
    .cfi_startproc
    endbr64
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    subq $8, %rsp
    stmxcsr (%rsp)
    fnstcw 4(%rsp)
    movq %rsp, (%rdi)
.Lfencepost_resume:
    movq 8(%rsi), %rax
    wrfsbase %rax
    movq (%rsi), %rsp
    ldmxcsr (%rsp)
    fldcw 4(%rsp)
    addq $8, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .cfi_endproc
    .size fencepost_switch, .-fencepost_switch

    .p2align 4
    .type fencepost_park, @function
fencepost_park:
    .cfi_startproc
    endbr64
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    subq $8, %rsp
    stmxcsr (%rsp)
    fnstcw 4(%rsp)
    movq %rsp, (%rdi)
    movq 16(%rdi), %rsp
    movq %rdi, %rbx
    movl $1, 28(%rbx)
    leaq 28(%rbx), %rdi
    movl $129, %esi
    movl $0x7fffffff, %edx
    movl $202, %eax
    syscall
.Lfencepost_wait:
    cmpl $0, 24(%rbx)
    jne .Lfencepost_turn
    leaq 24(%rbx), %rdi
    movl $128, %esi
    xorl %edx, %edx
    xorl %r10d, %r10d
    movl $202, %eax
    syscall
    jmp .Lfencepost_wait
.Lfencepost_turn:
    movl $0, 24(%rbx)
    movq %rbx, %rsi
    jmp .Lfencepost_resume
    .cfi_endproc
    .size fencepost_park, .-fencepost_park
)");

namespace {

std::uint64_t fs_base() {
    std::uint64_t base;
    asm("rdfsbase %0" : "=r"(base));
    return base;
}

// The kernel tells by AT_HWCAP2 whether user space may write the FS base. A processor that keeps a second
// stack of return addresses would stop at the first switch.
bool user_space_possible() {
    constexpr unsigned long fsgsbase = 1ul << 1;
    std::uint64_t shadow_stack = 0;
    asm volatile("rdsspq %0" : "+r"(shadow_stack));
    return (getauxval(AT_HWCAP2) & fsgsbase) != 0 && shadow_stack == 0;
}

}  // namespace

#else

namespace {

void fencepost_switch(Fiber*, Fiber*) {}
void fencepost_park(Fiber*) {}
std::uint64_t fs_base() {
    return 0;
}
bool user_space_possible() {
    return false;
}

}  // namespace

#endif

bool user_space_switching() {
    return in_user_space;
}

std::int32_t kernel_thread_of(Fiber const& fiber) {
    return in_user_space ? carrier->tid : fiber.tid;
}

void start_fibers(Fiber& self, bool prefer_futexes) {
    in_user_space = !prefer_futexes && user_space_possible();
    only_fiber(self);
}

void only_fiber(Fiber& self) {
    self.tid = static_cast<std::int32_t>(kernel::call(SYS_gettid));
    self.signal_mask = carrier_mask = signal_mask();
    if (in_user_space) self.fs_base = fs_base();
    carrier = &self;
    returned = nullptr;
    departing = 0;
}

void await_first_turn(Fiber& self) {
    self.tid = static_cast<std::int32_t>(kernel::call(SYS_gettid));
    self.signal_mask = signal_mask();
    if (in_user_space) {
        self.fs_base = fs_base();
        if (self.parking_stack == nullptr) {
            self.parking_stack = static_cast<char*>(memory::pages(parking_bytes)) + parking_bytes;
        }
        set_signal_mask(parked_mask);
        fencepost_park(&self);
    } else {
        __atomic_store_n(&self.parked, 1, __ATOMIC_RELEASE);
        kernel::futex_wake(&self.parked);
        await_turn(self);
    }
    arrived(self);
}

void await_parked(Fiber& child) {
    while (__atomic_load_n(&child.parked, __ATOMIC_ACQUIRE) == 0) kernel::futex_wait(&child.parked, 0);
    __atomic_store_n(&child.parked, 0, __ATOMIC_RELAXED);
}

void switch_fibers(Fiber& from, Fiber& to) {
    if (in_user_space) {
        fencepost_switch(&from, &to);
    } else {
        give_turn(to);
        await_turn(from);
    }
    arrived(from);
}

void leave_fibers(Fiber& from, Fiber& to) {
    departing = from.tid;
    if (!in_user_space) {
        give_turn(to);
    } else if (carrier == &from) {
        carrier = &to;
        carrier_mask = parked_mask;
        give_turn(to);
    } else {
        returned = &from;
        fencepost_switch(&from, &to);
    }
}

void signal_mask_changed(Fiber& self) {
    self.signal_mask = carrier_mask = signal_mask();
}

void apply_signal_mask(Fiber const& self) {
    set_signal_mask(self.signal_mask);
    carrier_mask = self.signal_mask;
}

}  // namespace fencepost::scheduler
