#include "sanitizer/schedule/restart.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "sanitizer/schedule/switch.hpp"
#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/syscalls.hpp"
#include "sanitizer/system/text.hpp"

namespace fencepost::scheduler::restart {

#if defined(__x86_64__)

namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t most_pages = std::size_t{1} << 16;
constexpr std::size_t most_regions = 512;
constexpr std::size_t stack_bytes = std::size_t{1} << 20;
constexpr std::size_t watcher_stack_bytes = std::size_t{1} << 14;
constexpr long first_own_descriptor = 900;  // above those that programs use

// The assembly below knows the order.
struct Registers {
    std::uint64_t rbx, rbp, r12, r13, r14, r15, rsp, rip;
    std::uint32_t mxcsr, x87;
    std::uint64_t fs_base;
};

struct Region {
    std::uintptr_t begin, end;
    bool is_stack;  // it may have grown downwards since
};

struct Page {
    std::uintptr_t address;
    bool was_zero;
};

// All of it is in shared memory, so it stays as it is.
struct State {
    Registers registers;
    std::uint64_t signal_mask;
    bool ready;
    long faults;
    int pagemap;
    std::uint32_t listener;  // of the filter, plus 1
    std::uint32_t watching;
    std::uint32_t made_call;  // the number of a system call that cannot be taken back, plus 1
    bool made_thread;
    bool own_calls;
    std::size_t regions_count;
    Region regions[most_regions];
    std::size_t pages_count, kept_count;  // kept_count: how many of them the keeper has copied
    std::uint32_t asked;                  // goes on when the keeper is to copy, and when it has
    Page pages[most_pages];
    std::uint32_t slots[2 * most_pages];  // page numbers, hashed: place in `pages`, plus 1
    std::uint64_t entries[4096];          // of the kernel's map of pages
    char maps[1 << 16];
};
State* state = nullptr;
char* stack = nullptr;   // its highest address
char* copies = nullptr;  // of the pages, one after the other

}  // namespace

extern "C" {
[[gnu::returns_twice]] int fencepost_keep(Registers*);
[[noreturn]] void fencepost_go_back(Registers const*);
void fencepost_call_on(void* stack, void (*action)());
}

static_assert(offsetof(Registers, rip) == 56 && offsetof(Registers, mxcsr) == 64 &&
              offsetof(Registers, fs_base) == 72);

asm(R"(
    .text
    .p2align 4
    .type fencepost_keep, @function
fencepost_keep:
    endbr64
    movq %rbx, (%rdi)
    movq %rbp, 8(%rdi)
    movq %r12, 16(%rdi)
    movq %r13, 24(%rdi)
    movq %r14, 32(%rdi)
    movq %r15, 40(%rdi)
    leaq 8(%rsp), %rax
    movq %rax, 48(%rdi)
    movq (%rsp), %rax
    movq %rax, 56(%rdi)
    stmxcsr 64(%rdi)
    fnstcw 68(%rdi)
    rdfsbase %rax
    movq %rax, 72(%rdi)
    xorl %eax, %eax
    ret
    .size fencepost_keep, .-fencepost_keep

    .p2align 4
    .type fencepost_go_back, @function
fencepost_go_back:
    movq (%rdi), %rbx
    movq 8(%rdi), %rbp
    movq 16(%rdi), %r12
    movq 24(%rdi), %r13
    movq 32(%rdi), %r14
    movq 40(%rdi), %r15
    movq 48(%rdi), %rsp
    ldmxcsr 64(%rdi)
    fninit
    fldcw 68(%rdi)
    movl $1, %eax
    jmp *56(%rdi)
    .size fencepost_go_back, .-fencepost_go_back

    .p2align 4
    .type fencepost_call_on, @function
fencepost_call_on:
    pushq %rbp
    movq %rsp, %rbp
    movq %rdi, %rsp
    call *%rsi
    movq %rbp, %rsp
    popq %rbp
    ret
    .size fencepost_call_on, .-fencepost_call_on
)");

namespace {

using kernel::call;
using kernel::failed;

// What leaves the kernel's part of the process as it is. Output is as with fork: what is written is written.
constexpr int harmless[] = {
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_pwrite64,
    SYS_lseek,
    SYS_fstat,
    SYS_newfstatat,
    SYS_stat,
    SYS_lstat,
    SYS_statx,
    SYS_access,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_readlink,
    SYS_readlinkat,
    SYS_getcwd,
    SYS_poll,
    SYS_ppoll,
    SYS_select,
    SYS_pselect6,
    SYS_futex,
    SYS_sched_yield,
    SYS_nanosleep,
    SYS_clock_nanosleep,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_gettimeofday,
    SYS_time,
    SYS_times,
    SYS_getrusage,
    SYS_getrandom,
    SYS_getpid,
    SYS_gettid,
    SYS_getppid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getpgrp,
    SYS_getpgid,
    SYS_getsid,
    SYS_uname,
    SYS_sysinfo,
    SYS_sched_getaffinity,
    SYS_sched_getparam,
    SYS_sched_getscheduler,
    SYS_getcpu,
    SYS_getpriority,
    SYS_getrlimit,
    SYS_rt_sigprocmask,
    SYS_rt_sigpending,
    SYS_rt_sigreturn,
    SYS_restart_syscall,
    SYS_exit_group,
    SYS_membarrier,
    SYS_fsync,
    SYS_fdatasync,
    SYS_ftruncate,
};

long moved_up(long descriptor) {
    if (failed(descriptor)) return descriptor;
    long const moved = call(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, first_own_descriptor);
    call(SYS_close, descriptor);
    return moved;
}

// Runs as long as the process, on a stack of shared memory, and uses no thread-local storage.
int watch(void*) {
    while (__atomic_load_n(&state->listener, __ATOMIC_ACQUIRE) == 0) kernel::futex_wait(&state->listener, 0);
    long const listener = moved_up(static_cast<long>(state->listener) - 1);
    __atomic_store_n(&state->watching, 1, __ATOMIC_RELEASE);
    kernel::futex_wake(&state->watching);
    for (;;) {
        seccomp_notif notice;
        __builtin_memset(&notice, 0, sizeof notice);
        if (failed(call(SYS_ioctl, listener, SECCOMP_IOCTL_NOTIF_RECV, &notice))) continue;
        int const number = notice.data.nr;
        if (!__atomic_load_n(&state->own_calls, __ATOMIC_ACQUIRE)) {
            if (number == SYS_clone || number == SYS_clone3) state->made_thread = true;
            __atomic_store_n(&state->made_call, static_cast<std::uint32_t>(number) + 1, __ATOMIC_RELEASE);
        }
        seccomp_notif_resp answer{};
        answer.id = notice.id;
        answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        call(SYS_ioctl, listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
}

bool start_watcher() {
    auto* const low = static_cast<char*>(memory::shared_pages(watcher_stack_bytes));
    if (low == nullptr) return false;
    std::uint64_t const all = ~std::uint64_t{0};
    std::uint64_t before = 0;
    call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    constexpr int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    int const thread = clone(watch, low + watcher_stack_bytes, flags, nullptr);
    call(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof before);
    return thread > 0;
}

class Filter {
  public:
    void add(std::uint16_t code, std::uint32_t value, std::uint8_t if_true = 0, std::uint8_t if_false = 0) {
        list_[count_++] = {code, if_true, if_false, value};
    }
    void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
    void answer(std::uint32_t what) { add(BPF_RET | BPF_K, what); }
    void allow_if(long value) {
        add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(value), 0, 1);
        answer(SECCOMP_RET_ALLOW);
    }
    // If the call has this number: is that argument this?
    void allow_if(long number, std::size_t argument, std::uint32_t value) {
        add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 4);
        load(offsetof(seccomp_data, args) + 8 * argument);
        add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
        answer(SECCOMP_RET_ALLOW);
        answer(SECCOMP_RET_USER_NOTIF);
    }
    long install() {
        sock_fprog const program{static_cast<unsigned short>(count_), list_};
        constexpr int flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
        return call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    }

  private:
    sock_filter list_[256];
    std::size_t count_ = 0;
};

bool start_filter() {
    constexpr std::uint32_t populate_write = 23, get_terminal = 0x5401;
    Filter filter;
    filter.load(offsetof(seccomp_data, arch));
    filter.add(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
    filter.answer(SECCOMP_RET_USER_NOTIF);
    filter.load(offsetof(seccomp_data, nr));
    for (int const number : harmless) filter.allow_if(number);
    filter.allow_if(SYS_madvise, 2, populate_write);
    filter.allow_if(SYS_ioctl, 1, get_terminal);
    filter.answer(SECCOMP_RET_USER_NOTIF);
    if (failed(call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))) return false;
    long const listener = filter.install();
    if (failed(listener)) return false;
    __atomic_store_n(&state->listener, static_cast<std::uint32_t>(listener) + 1, __ATOMIC_RELEASE);
    kernel::futex_wake(&state->listener);
    while (__atomic_load_n(&state->watching, __ATOMIC_ACQUIRE) == 0) kernel::futex_wait(&state->watching, 0);
    return true;
}

bool is_known(Region const& region, std::uintptr_t address) {
    return region.begin <= address && address < region.end;
}

bool was_mapped(std::uintptr_t address) {
    return std::any_of(state->regions, state->regions + state->regions_count,
                       [&](Region const& region) { return is_known(region, address); });
}

bool is_zero(char const* page) {
    auto const* const words = reinterpret_cast<std::uint64_t const*>(page);
    return std::all_of(words, words + page_bytes / sizeof *words,
                       [](std::uint64_t word) { return word == 0; });
}

// A fork of this process that does nothing but copy pages. It does not read what was not mapped.
[[noreturn]] void keep_pages(long process) {
    call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
    if (call(SYS_getppid) != process) call(SYS_exit_group, 0);
    for (std::uint32_t seen = 0;;) {
        std::uint32_t const now = __atomic_load_n(&state->asked, __ATOMIC_ACQUIRE);
        if (now == seen || now % 2 == 0) {
            call(SYS_futex, &state->asked, FUTEX_WAIT, now, nullptr, nullptr, 0);
            continue;
        }
        for (; state->kept_count < state->pages_count; ++state->kept_count) {
            Page& page = state->pages[state->kept_count];
            auto const* const from = reinterpret_cast<char const*>(page.address);
            page.was_zero = !was_mapped(page.address) || is_zero(from);
            if (!page.was_zero) std::memcpy(copies + state->kept_count * page_bytes, from, page_bytes);
        }
        seen = now + 1;
        __atomic_store_n(&state->asked, seen, __ATOMIC_RELEASE);
        call(SYS_futex, &state->asked, FUTEX_WAKE, 1, nullptr, nullptr, 0);
    }
}

// Its end sends no signal, and is nothing that the program could wait for.
bool start_keeper() {
    long const process = call(SYS_getpid);
    long const keeper = call(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr);
    if (keeper == 0) keep_pages(process);
    return keeper > 0;
}

void ask_keeper() {
    std::uint32_t const asked = __atomic_add_fetch(&state->asked, 1, __ATOMIC_RELEASE);
    call(SYS_futex, &state->asked, FUTEX_WAKE, 1, nullptr, nullptr, 0);
    while (__atomic_load_n(&state->asked, __ATOMIC_ACQUIRE) == asked)
        call(SYS_futex, &state->asked, FUTEX_WAIT, asked, nullptr, nullptr, 0);
}

long count_faults() {
    rusage usage;
    call(SYS_getrusage, RUSAGE_THREAD, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

std::uintptr_t read_hex(char const*& at) {
    std::uintptr_t number = 0;
    for (;; ++at) {
        if (*at >= '0' && *at <= '9')
            number = number * 16 + static_cast<std::uintptr_t>(*at - '0');
        else if (*at >= 'a' && *at <= 'f')
            number = number * 16 + static_cast<std::uintptr_t>(*at - 'a' + 10);
        else
            return number;
    }
}

// Private mappings that can be written.
bool find_regions() {
    long const file = call(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    if (failed(file)) return false;
    std::size_t size = 0;
    for (long bytes; size < sizeof state->maps - 1; size += static_cast<std::size_t>(bytes)) {
        bytes = call(SYS_read, file, state->maps + size, sizeof state->maps - 1 - size);
        if (bytes <= 0) break;
    }
    call(SYS_close, file);
    state->maps[size] = '\0';
    state->regions_count = 0;
    for (char const* line = state->maps; *line != '\0';) {
        char const* const end = std::find(line, static_cast<char const*>(state->maps + size), '\n');
        std::string_view const all(line, static_cast<std::size_t>(end - line));
        std::uintptr_t const first = read_hex(line);
        std::uintptr_t const last = read_hex(++line);
        if (line[1] == 'r' && line[2] == 'w' && line[4] == 'p') {
            if (state->regions_count == most_regions) return false;
            state->regions[state->regions_count++] = {first, last, all.ends_with("[stack]")};
        }
        line = *end == '\0' ? end : end + 1;
    }
    return size < sizeof state->maps - 1 && state->regions_count != 0;
}

// False if there are too many.
bool add_page(std::uintptr_t address) {
    std::size_t slot = address / page_bytes * 0x9e3779b97f4a7c15u >> 40;
    for (;; ++slot) {
        std::uint32_t& place = state->slots[slot % std::size(state->slots)];
        if (place != 0 && state->pages[place - 1].address == address) return true;
        if (place != 0) continue;
        if (state->pages_count == most_pages) return false;
        state->pages[state->pages_count++] = {address, false};
        place = static_cast<std::uint32_t>(state->pages_count);
        return true;
    }
}

// Pages of this process alone: those that it has written since the keeper was made.
bool find_pages_in(std::uintptr_t begin, std::uintptr_t end) {
    constexpr std::uint64_t present = std::uint64_t{1} << 63, swapped = std::uint64_t{1} << 62,
                            file = std::uint64_t{1} << 61, exclusive = std::uint64_t{1} << 56;
    while (begin < end) {
        std::size_t const wanted = std::min((end - begin) / page_bytes, std::size(state->entries));
        long const bytes = call(SYS_pread64, state->pagemap, state->entries, wanted * sizeof(std::uint64_t),
                                begin / page_bytes * sizeof(std::uint64_t));
        if (bytes <= 0) return false;
        std::size_t const count = static_cast<std::size_t>(bytes) / sizeof(std::uint64_t);
        for (std::size_t i = 0; i < count; ++i) {
            std::uint64_t const entry = state->entries[i];
            bool const own = (entry & present) != 0 && (entry & file) == 0 && (entry & exclusive) != 0;
            if ((own || (entry & swapped) != 0) && !add_page(begin + i * page_bytes)) return false;
        }
        begin += count * page_bytes;
    }
    return true;
}

bool find_pages() {
    for (std::size_t i = 0; i < state->regions_count; ++i) {
        Region const& region = state->regions[i];
        if (!find_pages_in(region.begin, region.end)) return false;
        constexpr std::size_t step = 16 * page_bytes, most = std::size_t{8} << 20;
        std::uintptr_t below = region.begin;
        for (std::size_t before = SIZE_MAX;
             region.is_stack && before != state->pages_count && region.begin - below < most; below -= step) {
            before = state->pages_count;
            if (!find_pages_in(below - step, below)) break;
        }
    }
    return true;
}

// Nothing is written in between but shared memory, so the count of faults is that of the last look.
bool learn_pages() {
    for (;;) {
        long const before = count_faults();
        if (!find_pages()) return false;
        if (state->kept_count != state->pages_count) ask_keeper();
        state->faults = count_faults();
        if (state->faults == before) return true;
    }
}

void put_pages_back() {
    for (std::size_t i = 0; i < state->pages_count; ++i) {
        Page const& page = state->pages[i];
        auto* const to = reinterpret_cast<char*>(page.address);
        if (page.was_zero)
            std::memset(to, 0, page_bytes);
        else
            std::memcpy(to, copies + i * page_bytes, page_bytes);
    }
}

// False leaves some of it behind, which does no harm.
[[gnu::noinline]] bool prepare() {
    auto* const probe = static_cast<char volatile*>(memory::pages(page_bytes));
    *probe = 1;
    call(SYS_prctl, PR_SET_THP_DISABLE, 1, 0, 0, 0);
    call(SYS_rt_sigprocmask, SIG_SETMASK, nullptr, &state->signal_mask, sizeof state->signal_mask);
    long const pagemap = moved_up(call(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0));
    if (failed(pagemap) || !find_regions()) return false;
    state->pagemap = static_cast<int>(pagemap);
    if (!start_keeper()) return false;
    long const before = count_faults();
    *probe = 2;
    return count_faults() != before && start_watcher() && start_filter();
}

void write_fs_base(std::uint64_t base) {
    asm volatile("wrfsbase %0" : : "r"(base));
}

void (*between_executions)() = nullptr;

bool all_pages_are_known() {
    return count_faults() == state->faults || learn_pages();
}

// No signal handler may run meanwhile.
void restart_here() {
    std::uint64_t const all = ~std::uint64_t{0};
    std::uint64_t before = 0;
    call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    if (!all_pages_are_known()) {
        call(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof before);
        return;
    }
    between_executions();
    if (!all_pages_are_known()) stop_with("fencepost: the pages of an execution cannot be found\n");
    put_pages_back();
    state->made_call = 0;
    call(SYS_rt_sigprocmask, SIG_SETMASK, &state->signal_mask, nullptr, sizeof state->signal_mask);
    fencepost_go_back(&state->registers);
}

}  // namespace

namespace {

void make_stack() {
    if (stack != nullptr) return;
    auto* const low = static_cast<char*>(memory::shared_pages(stack_bytes));
    if (low != nullptr) stack = low + stack_bytes;
}

}  // namespace

void begin() {
    if (!user_space_switching()) return;
    make_stack();
    state = static_cast<State*>(memory::shared_pages(sizeof(State)));
    copies = static_cast<char*>(memory::shared_pages(most_pages * page_bytes));
    if (stack == nullptr || state == nullptr || copies == nullptr) return;
    if (fencepost_keep(&state->registers) == 0) state->ready = prepare();
}

bool is_possible() {
    return state != nullptr && state->ready && between_executions == nullptr &&
           __atomic_load_n(&state->made_call, __ATOMIC_ACQUIRE) == 0;
}

void go_back(void (*between)()) {
    between_executions = between;
    write_fs_base(state->registers.fs_base);
    fencepost_call_on(stack, restart_here);
}

void on_own_stack(void (*action)()) {
    make_stack();
    stack == nullptr ? action() : fencepost_call_on(stack, action);
}

OwnCalls::OwnCalls() : outer_(state != nullptr && state->own_calls) {
    if (state != nullptr) __atomic_store_n(&state->own_calls, true, __ATOMIC_RELEASE);
}

OwnCalls::~OwnCalls() {
    if (state != nullptr) __atomic_store_n(&state->own_calls, outer_, __ATOMIC_RELEASE);
}

bool no_thread_was_made() {
    return state != nullptr && state->ready && !state->made_thread;
}

unsigned own_threads() {
    return state != nullptr && state->ready ? 1 : 0;
}

#else

void begin() {}
bool is_possible() {
    return false;
}
void go_back(void (*)()) {}
void on_own_stack(void (*action)()) {
    action();
}
OwnCalls::OwnCalls() : outer_(false) {}
OwnCalls::~OwnCalls() {}
bool no_thread_was_made() {
    return false;
}
unsigned own_threads() {
    return 0;
}

#endif

}  // namespace fencepost::scheduler::restart
