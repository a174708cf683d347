#include "sanitizer/core/sc_clocks.hpp"

#include "sanitizer/core/threads.hpp"
#include "sanitizer/system/memory.hpp"

namespace fencepost {

ScEventKinds sc_events_made;

bool join_of_other_width(ScClock into, ScClock from, ScLanes of_from) {
    std::uint32_t const width = into.width < from.width ? into.width : from.width;
    bool const more_accesses = of_from.begin == 0 && join(into.accesses, from.accesses, width);
    bool const more_writes = of_from.end > from.width && join(into.writes(), from.writes(), width);
    return more_accesses || more_writes;
}

ScClocks* ScClocks::make(std::uint32_t count, std::uint32_t width, void* room) {
    bool const has_room = room != nullptr && width == lanes;
    auto* const made = static_cast<ScClocks*>(has_room ? room : memory::allocate(bytes(count, width)));
    made->count_ = count & (UINT32_MAX >> 1);
    made->has_room_ = has_room;
    made->width_ = width;
    made->clear();
    return made;
}

void ScClocks::make_ready(ScClocks*& clocks, std::uint32_t count, void* room) {
    ScClocks* const made = make(count, clock_width, room);
    if (clocks != nullptr) {
        for (std::uint32_t i = 0; i < count; ++i) join((*made)[i], (*clocks)[i]);
        release(clocks);
    }
    clocks = made;
}

void ScClocks::release(ScClocks*& clocks) {
    if (clocks != nullptr && !clocks->has_room_)
        memory::release(clocks, bytes(clocks->count_, clocks->width_));
    clocks = nullptr;
}

}  // namespace fencepost
