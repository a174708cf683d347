#include "sanitizer/schedule/rounds.hpp"

#include <cstring>

#include "sanitizer/system/syscalls.hpp"

namespace fencepost::scheduler {
namespace {

constexpr std::size_t most_rounds = 4096;
constexpr std::size_t largest_stack = std::size_t{1} << 18;
constexpr std::size_t saved_words = 5;  // rbx and r12 to r15, which a function must keep: below its frame

struct Round {
    std::uint64_t state, value;
};
struct Rounds {
    std::size_t count;
    Round list[most_rounds];
};
Rounds* rounds = nullptr;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

}  // namespace

std::uint64_t state_of_thread(std::uintptr_t pc, std::uintptr_t address, void const* frame, void const* end) {
#if defined(__x86_64__)
    auto const* const first = static_cast<std::uint64_t const*>(frame) - saved_words;
    auto const bytes = reinterpret_cast<std::uintptr_t>(end) - reinterpret_cast<std::uintptr_t>(first);
    if (end == nullptr || bytes > largest_stack) return 0;
    std::uint64_t hash = mixed(mixed(1, pc), address);
    for (std::size_t i = 0; i < bytes / sizeof(std::uint64_t); ++i) hash = mixed(hash, first[i]);
    return hash | 1;
#else
    (void)pc, (void)address, (void)frame, (void)end;
    return 0;
#endif
}

void RepeatedReads::forget() {
    std::memset(times, 0, sizeof times);
}

bool RepeatedReads::count(std::uintptr_t pc, std::uintptr_t address, std::uint32_t most) {
    std::uint8_t& here = times[mixed(mixed(1, pc), address) % sizeof times];
    if (here >= most) return false;
    ++here;
    return true;
}

void start_rounds() {
    rounds = static_cast<Rounds*>(
        kernel::map(sizeof(Rounds), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE));
}

bool add_round(std::uint64_t state, std::uint64_t value) {
    if (rounds == nullptr || rounds->count == most_rounds) return false;
    rounds->list[rounds->count++] = {state, value};
    return true;
}

bool is_round(std::uint64_t state, std::uint64_t value) {
    for (std::size_t i = 0; rounds != nullptr && i < rounds->count; ++i) {
        if (rounds->list[i].state == state && rounds->list[i].value == value) return true;
    }
    return false;
}

bool has_rounds(std::uint64_t state) {
    for (std::size_t i = 0; rounds != nullptr && i < rounds->count; ++i) {
        if (rounds->list[i].state == state) return true;
    }
    return false;
}

}  // namespace fencepost::scheduler
