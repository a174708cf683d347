#pragma once

namespace fencepost::races {

// ThreadSanitizer has begun; from now on it tells us of memory that is freed.
void start_allocations();

}  // namespace fencepost::races
