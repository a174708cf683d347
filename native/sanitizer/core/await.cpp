#include "sanitizer/core/await.hpp"

#include "sanitizer/system/lock.hpp"
#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/modules.hpp"

namespace fencepost {
namespace {

// The first few values; later ones are dropped. Reading needs no lock, adding does.
struct FewValues {
    static constexpr std::uint32_t most = 8;
    std::uint32_t count;
    std::uint64_t values[most];

    bool has(std::uint64_t value) const {
        std::uint32_t const seen = __atomic_load_n(&count, __ATOMIC_ACQUIRE);
        for (std::uint32_t i = 0; i < seen; ++i)
            if (values[i] == value) return true;
        return false;
    }
    bool would_keep(std::uint64_t value) const {
        return __atomic_load_n(&count, __ATOMIC_RELAXED) < most && !has(value);
    }
    void add(std::uint64_t value) {
        if (!would_keep(value)) return;
        values[count] = value;
        __atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
    }
};

struct WaitLoop {
    std::uintptr_t pc;
    FewValues prolonging, ending;
    WaitLoop* next;
};

constexpr std::size_t buckets = 256;
Lock guard;
WaitLoop* loops[buckets];

WaitLoop* find(std::uintptr_t pc) {
    WaitLoop* loop = __atomic_load_n(&loops[pc % buckets], __ATOMIC_ACQUIRE);
    while (loop != nullptr && loop->pc != pc) loop = loop->next;
    return loop;
}

WaitLoop& find_or_make(std::uintptr_t pc) {
    if (WaitLoop* const known = find(pc); known != nullptr) return *known;
    auto* const loop = static_cast<WaitLoop*>(memory::allocate(sizeof(WaitLoop)));
    *loop = {pc, {}, {}, loops[pc % buckets]};
    __atomic_store_n(&loops[pc % buckets], loop, __ATOMIC_RELEASE);
    return *loop;
}

// All threads that wait come here, most of them with a value that is known already.
void keep_value(std::uintptr_t pc, FewValues WaitLoop::* values, std::uint64_t value) {
    if (WaitLoop const* const known = find(pc); known != nullptr && !(known->*values).would_keep(value))
        return;
    Locked held(guard);
    (find_or_make(pc).*values).add(value);
}

void put_values_of_one(Text& out, FewValues const& in, FewValues const& not_in) {
    char const* comma = "";
    for (std::uint32_t i = 0; i < in.count; ++i) {
        if (not_in.has(in.values[i])) continue;
        out << comma << in.values[i];
        comma = ",";
    }
}

}  // namespace

void end_await(Thread& t) {
    keep_value(t.await.pc, &WaitLoop::ending, t.await.value);
    t.await.rounds = 0;
}

void next_round(Thread& t, std::uintptr_t pc, std::uint64_t value) {
    keep_value(pc, &WaitLoop::prolonging, t.await.value);
    t.await.value = value;
    ++t.await.rounds;
}

bool is_await(std::uintptr_t pc) {
    return find(pc) != nullptr;
}

bool ends_await(std::uintptr_t pc, std::uint64_t value) {
    Locked held(guard);
    WaitLoop const* const known = find(pc);
    return known != nullptr && known->ending.has(value) && !known->prolonging.has(value);
}

std::uintptr_t find_copy_of(std::uintptr_t pc, bool (*is_copy)(std::uintptr_t, std::uintptr_t)) {
    for (WaitLoop const* known : loops)
        for (; known != nullptr; known = known->next)
            if (is_copy(known->pc, pc)) return known->pc;
    return 0;
}

void json_awaits(Text& out) {
    for (WaitLoop* loop : loops) {
        for (; loop != nullptr; loop = loop->next) {
            ModuleOffset const where = find_module(loop->pc - 1);
            if (where.module == nullptr) continue;
            out << "{\"event\":\"await\",\"at\":{";
            put_module(out, where);
            out << "},\"ended_by\":[";
            put_values_of_one(out, loop->ending, loop->prolonging);
            out << "],\"prolonged_by\":[";
            // If there were too many that ended it, these may have too.
            if (loop->ending.count < FewValues::most) put_values_of_one(out, loop->prolonging, loop->ending);
            out << "]}\n";
        }
    }
}

}  // namespace fencepost
