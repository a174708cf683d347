// The reference count of reference-count.cpp with relaxed decrements: the object can be destroyed before it
// was last used.
// expect: robust rc20=no
// Why: reference-count.tpl with such decrements, by the static engine: the fence has nothing to acquire.
#define DROP std::memory_order_relaxed
#include "reference-count.cpp"
