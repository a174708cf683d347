#include "sanitizer/schedule/rounds.hpp"

#include <cstring>

#include "sanitizer/schedule/scheduler.hpp"
#include "sanitizer/system/memory.hpp"

namespace fencepost::scheduler {
namespace {

constexpr std::size_t most_rounds = 4096;
constexpr std::size_t largest_stack = std::size_t{1} << 18;
constexpr std::size_t saved_words = 5;  // rbx and r12 to r15, which a function must keep: below its frame

struct Round {
    std::uint64_t key, value;
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

// Hashed, so that two states in one order have another key than in the other.
std::uint64_t start_of_key(std::uint64_t state) {
    return mixed(1, state);
}

bool has_rounds(std::uint64_t key) {
    for (std::size_t i = 0; rounds != nullptr && i < rounds->count; ++i) {
        if (rounds->list[i].key == key) return true;
    }
    return false;
}

// Rounds of `to` are those of `from` too.
void unite_rounds(std::uint64_t to, std::uint64_t from) {
    for (std::size_t i = 0; i < rounds->count; ++i) {
        Round const& one = rounds->list[i];
        if (one.key == from && !is_round(to, one.value)) add_round(to, one.value);
    }
}

}  // namespace

void Path::add(Step const& step) {
    if (count == most) {
        std::memmove(steps, steps + 1, (most - 1) * sizeof *steps);
        --count;
    }
    steps[count++] = step;
}

std::uint32_t Path::find(std::uint64_t state) const {
    for (std::uint32_t i = count; i-- > 0;)
        if (steps[i].state == state) return i;
    return none;
}

std::uint64_t Path::key(std::uint32_t first) const {
    std::uint64_t key = start_of_key(steps[count - 1].state);
    for (std::uint32_t i = count - 1; i-- > first;) key = mixed(key, steps[i].state);
    return key;
}

std::uint64_t Path::find_round(std::uint32_t& first) const {
    if (rounds == nullptr || rounds->count == 0) return 0;
    std::uint64_t found = 0, key = start_of_key(steps[count - 1].state);
    for (std::uint32_t i = count; i-- > 0;) {
        if (i + 1 < count) key = mixed(key, steps[i].state);
        if (!has_rounds(key)) continue;
        std::uint64_t const united = found == 0 ? key : mixed(found, key);
        if (found != 0) unite_rounds(united, found), unite_rounds(united, key);
        found = united;
        first = i;
    }
    return found;
}

bool Path::still_holds(std::uint32_t first) const {
    for (std::uint32_t i = first; i + 1 < count; ++i) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, reinterpret_cast<void const*>(steps[i].object), steps[i].size);
        if (bits != steps[i].value) return false;
    }
    return true;
}

std::uint64_t state_of_thread(Operation const& next, void const* frame, void const* end) {
#if defined(__x86_64__)
    auto const* const first = static_cast<std::uint64_t const*>(frame) - saved_words;
    auto const bytes = reinterpret_cast<std::uintptr_t>(end) - reinterpret_cast<std::uintptr_t>(first);
    if (end == nullptr || bytes > largest_stack) return 0;
    std::uint64_t hash =
        mixed(mixed(mixed(1, next.pc), reinterpret_cast<std::uintptr_t>(next.object)), next.expected);
    for (std::size_t i = 0; i < bytes / sizeof(std::uint64_t); ++i) hash = mixed(hash, first[i]);
    return hash | 1;
#else
    (void)next, (void)frame, (void)end;
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
    rounds = static_cast<Rounds*>(memory::shared_pages(sizeof(Rounds)));
}

std::string_view rounds_as_bytes() {
    return {reinterpret_cast<char const*>(rounds), sizeof rounds->count + rounds->count * sizeof(Round)};
}

bool read_rounds(std::string_view bytes) {
    if (bytes.size() < sizeof rounds->count || bytes.size() > sizeof *rounds) return false;
    std::memcpy(rounds, bytes.data(), bytes.size());
    return bytes.size() == rounds_as_bytes().size();
}

bool add_round(std::uint64_t key, std::uint64_t value) {
    if (rounds == nullptr || rounds->count == most_rounds) return false;
    rounds->list[rounds->count++] = {key, value};
    return true;
}

bool is_round(std::uint64_t key, std::uint64_t value) {
    for (std::size_t i = 0; rounds != nullptr && i < rounds->count; ++i) {
        if (rounds->list[i].key == key && rounds->list[i].value == value) return true;
    }
    return false;
}

}  // namespace fencepost::scheduler
