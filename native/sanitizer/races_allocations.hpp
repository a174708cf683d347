#pragma once

namespace holdfast::races {

// ThreadSanitizer has begun; from now on it tells us of memory that is freed.
void start_allocations();

}  // namespace holdfast::races
