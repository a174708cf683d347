// Clocks: how far each thread's steps are known.
//
// A location clock (design.md, section 7; rsan-2025, section 3.2) maps each location to the newest write
// known of it. Kept as such it grows with the number of locations. Here it is kept the other way round. A
// thread takes a *step*, and its time goes on by one, whenever it learns of a write by an access of its own:
// when it writes, and when it reads a write that it did not know. A location remembers its steps
// (history.hpp): (thread, time, write). A clock maps each thread to the time up to which its steps are known,
// and the location clock's entry for x is the newest write among the known steps of x.
//
// This is exact. Every rule of design.md either copies or joins whole clocks, or lets a thread learn the
// write that it has just made or read. A thread that knows a step of another knows all earlier ones, because
// whatever passes knowledge on (a release write, a release fence, hbsc through any access) passes on all that
// the thread knows at that moment. The one exception, the message of a relaxed write, knows the write itself
// but not the thread's other steps; but whoever reads the message reads that write too, and learns it by
// that.
//
// A clock is an array indexed by slot, a small number that a thread has while it lives.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fencepost {

using Time = std::int32_t;  // signed: the processor compares such vectors at once
using Slot = std::uint32_t;
inline constexpr Slot no_slot = UINT32_MAX;

// Clocks are used up to a width, a multiple of this, and begin at a multiple of so many times.
inline constexpr std::uint32_t lanes = 4;
inline constexpr std::uint32_t most_slots = UINT16_MAX / lanes * lanes;  // widths are kept in 16 bits

namespace detail {

using Vector [[gnu::vector_size(16)]] = Time;  // every processor has these
inline constexpr std::uint32_t vector_lanes = sizeof(Vector) / sizeof(Time);

inline Vector load(Time const* at) {
    return *reinterpret_cast<Vector const*>(at);
}
inline void store(Time* at, Vector times) {
    *reinterpret_cast<Vector*>(at) = times;
}
inline Vector later(Vector a, Vector b) {
    return b > a ? b : a;
}
inline Vector earlier(Vector a, Vector b) {
    return b < a ? b : a;
}
inline bool any(Vector mask) {
    using Halves [[gnu::vector_size(16)]] = std::int64_t;
    auto const halves = reinterpret_cast<Halves>(mask);
    return (halves[0] | halves[1]) != 0;
}

}  // namespace detail

// into ⊔= from. True if that changed anything.
inline bool join(Time* into, Time const* from, std::uint32_t width) {
    detail::Vector changed{};
    for (std::size_t i = 0; i < width; i += detail::vector_lanes) {
        detail::Vector const a = detail::load(into + i), b = detail::load(from + i);
        detail::Vector const newer = b > a;
        detail::store(into + i, newer ? b : a);
        changed |= newer;
    }
    return detail::any(changed);
}

// Does `other` know anything that `clock` does not?
inline bool ahead(Time const* other, Time const* clock, std::uint32_t width) {
    detail::Vector newer{};
    for (std::size_t i = 0; i < width; i += detail::vector_lanes)
        newer |= detail::load(other + i) > detail::load(clock + i);
    return detail::any(newer);
}

inline void copy(Time* into, Time const* from, std::uint32_t width) {
    for (std::size_t i = 0; i < width; i += detail::vector_lanes)
        detail::store(into + i, detail::load(from + i));
}

}  // namespace fencepost
