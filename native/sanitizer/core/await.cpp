#include "sanitizer/core/await.hpp"

#include "sanitizer/system/lock.hpp"
#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/modules.hpp"

namespace fencepost {
namespace {

// A few values; of more it is only known that there are many. Who looks needs no lock, who adds does.
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

struct Place {
    std::uintptr_t address;
    FewValues prolonging, ending;
    Place* next;
};

constexpr std::size_t buckets = 256;
Lock guard;
Place* places[buckets];

Place* find(std::uintptr_t address) {
    Place* place = __atomic_load_n(&places[address % buckets], __ATOMIC_ACQUIRE);
    while (place != nullptr && place->address != address) place = place->next;
    return place;
}

Place& find_or_make(std::uintptr_t address) {
    if (Place* const known = find(address); known != nullptr) return *known;
    auto* const place = static_cast<Place*>(memory::allocate(sizeof(Place)));
    *place = {address, {}, {}, places[address % buckets]};
    __atomic_store_n(&places[address % buckets], place, __ATOMIC_RELEASE);
    return *place;
}

// All threads that wait come here, most with what is known already.
void keep_value(std::uintptr_t address, FewValues Place::* values, std::uint64_t value) {
    if (Place const* const known = find(address); known != nullptr && !(known->*values).would_keep(value))
        return;
    Locked held(guard);
    (find_or_make(address).*values).add(value);
}

}  // namespace

void end_await(Thread& t) {
    keep_value(t.await.place, &Place::ending, t.await.value);
    t.await.rounds = 0;
}

void next_round(Thread& t, std::uintptr_t place, std::uintptr_t, std::uint64_t value) {
    keep_value(place, &Place::prolonging, t.await.value);
    t.await.value = value;
    ++t.await.rounds;
}

bool is_await(std::uintptr_t place) {
    return find(place) != nullptr;
}

bool ends_await(std::uintptr_t place, std::uint64_t value) {
    Locked held(guard);
    Place const* const known = find(place);
    return known != nullptr && known->ending.has(value) && !known->prolonging.has(value);
}

std::uintptr_t find_copy_of(std::uintptr_t place, bool (*is_copy)(std::uintptr_t, std::uintptr_t)) {
    for (Place const* known : places)
        for (; known != nullptr; known = known->next)
            if (is_copy(known->address, place)) return known->address;
    return 0;
}

void json_awaits(Text& out) {
    for (Place* place : places) {
        for (; place != nullptr; place = place->next) {
            ModulePlace const where = find_module(place->address - 1);
            if (where.module == nullptr) continue;
            out << "{\"event\":\"await\",\"at\":{\"module\":" << Quoted{where.module} << ",\"offset\":\""
                << Hex{where.offset} << "\"},\"ended_by\":[";
            char const* comma = "";
            for (std::uint32_t i = 0; i < place->ending.count; ++i) {
                if (place->prolonging.has(place->ending.values[i])) continue;
                out << comma << place->ending.values[i];
                comma = ",";
            }
            out << "]}\n";
        }
    }
}

}  // namespace fencepost
