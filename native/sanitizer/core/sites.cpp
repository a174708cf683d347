#include "sanitizer/core/sites.hpp"

#include "sanitizer/core/ordinary.hpp"
#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/text.hpp"

namespace fencepost::sites {

bool on;

namespace {

struct Entry {
    std::uint64_t key;  // 0: free
    SiteChange change;
    std::uint8_t used;
};

constexpr std::uint64_t room = 1 << 16;
Entry* entries;

std::uint64_t key_of(std::uintptr_t pc, SiteKind kind) {
    return pc << 3 | static_cast<std::uint64_t>(kind);
}

// The one with the key, or a free one where it belongs; null if there is no room.
Entry* place_of(std::uint64_t key) {
    std::uint64_t const first = (key * 0x9e3779b97f4a7c15u) >> 48;
    for (std::uint64_t i = 0; i < room && entries != nullptr; ++i) {
        Entry& entry = entries[(first + i) % room];
        std::uint64_t const there = __atomic_load_n(&entry.key, __ATOMIC_RELAXED);
        if (there == key || there == 0) return &entry;
    }
    return nullptr;
}

Entry* find_or_make(std::uint64_t key) {
    if (entries == nullptr) entries = static_cast<Entry*>(memory::shared_pages(room * sizeof(Entry)));
    for (Entry* entry; (entry = place_of(key)) != nullptr;) {
        std::uint64_t before = 0;
        bool const made =
            __atomic_compare_exchange_n(&entry->key, &before, key, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
        if (made || before == key) return entry;
    }
    return nullptr;
}

void put(PerhapsOrder& into, PerhapsOrder order) {
    if (order) into = order;
}

}  // namespace

void turn_on() {
    on = true;
    run_is_ordinary = false;
}

void add(std::uintptr_t pc, SiteKind kind, SiteChange const& change) {
    Entry* const entry = find_or_make(key_of(pc, kind));
    if (entry == nullptr) stop_with("there is no room for so many changes of sites");
    put(entry->change.order, change.order);
    put(entry->change.failure, change.failure);
    put(entry->change.before, change.before);
    put(entry->change.after, change.after);
    entry->change.removed |= change.removed;
    turn_on();
}

SiteChange find(std::uintptr_t pc, SiteKind kind) {
    std::uint64_t const key = key_of(pc, kind);
    Entry const* const entry = place_of(key);
    return entry != nullptr && __atomic_load_n(&entry->key, __ATOMIC_RELAXED) == key ? entry->change
                                                                                     : SiteChange{};
}

bool is_first_use(std::uintptr_t pc, SiteKind kind) {
    Entry* const entry = find_or_make(key_of(pc, kind));
    return entry != nullptr && __atomic_load_n(&entry->used, __ATOMIC_RELAXED) == 0 &&
           __atomic_exchange_n(&entry->used, std::uint8_t{1}, __ATOMIC_RELAXED) == 0;
}

}  // namespace fencepost::sites
