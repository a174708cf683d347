// Plain accesses to volatile objects as relaxed atomic ones (volatile=relaxed): older code is written so.
//
// The compiler puts the call before the access, which the program then makes itself. Under a schedule nobody
// else runs in between, so a load is what it would be if it were made here. A store is checked here and
// finished where the thread next enters a hook or lets others run: its value is in memory then. Without a
// schedule others could come in between; there volatile accesses stay plain.
//
// Accesses of more than eight bytes, or that are not aligned, are made in parts and stay plain.
#pragma once

#include <cstdint>

namespace fencepost {

// True if the access counts as atomic. `frame`: of the function that the program called.
bool is_volatile_read(void const volatile* a, std::uint32_t size, void const* frame);
bool is_volatile_write(void volatile* a, std::uint32_t size, void const* frame);

// Once the schedule has begun.
#if defined(FENCEPOST_RACES)
inline void start_volatile_accesses() {}
#else
void start_volatile_accesses();
#endif

}  // namespace fencepost
