// Places of release fences, and whether the snapshots taken there are ever told.
//
// Most fences have no relaxed write after them, and a snapshot is not cheap. So a place that has been passed
// often, and never with a relaxed write after it, takes none any more, until such a write comes after all.
// That one then tells what its thread knows at the write, in place of the fence: a race may be missed there,
// once for each place, but none is made up.
#pragma once

#include <cstddef>
#include <cstdint>

namespace holdfast::races {

class FencePlaces {
  public:
    bool takes_snapshot(std::uintptr_t place) {
        std::uint64_t& entry = entry_of(place);
        std::uint64_t seen = __atomic_load_n(&entry, __ATOMIC_RELAXED);
        if (seen == 0 && __atomic_compare_exchange_n(&entry, &seen, place << place_shift, false,
                                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return true;
        if (seen >> place_shift != place || (seen & told) != 0) return true;
        if ((seen & passes) >= often) return false;
        __atomic_fetch_add(&entry, 1, __ATOMIC_RELAXED);
        return true;
    }
    // A relaxed write has come after a fence there.
    void tell(std::uintptr_t place) {
        std::uint64_t& entry = entry_of(place);
        std::uint64_t const seen = __atomic_load_n(&entry, __ATOMIC_RELAXED);
        if (seen >> place_shift == place && (seen & told) == 0)
            __atomic_fetch_or(&entry, told, __ATOMIC_RELAXED);
    }

  private:
    // The place (48 bits), whether its snapshots were told, and how often it was passed before that.
    static constexpr unsigned place_shift = 16;
    static constexpr std::uint64_t told = 1 << 15, passes = told - 1, often = 100;
    static constexpr std::size_t size = 1024;

    // Places that share an entry: only the first is counted.
    std::uint64_t& entry_of(std::uintptr_t place) { return entries_[(place ^ place >> 10) % size]; }

    std::uint64_t entries_[size];
};

}  // namespace holdfast::races
