// Wrappers around atomics, as many libraries have them.
#include <stdatomic.h>

static inline __attribute__((always_inline)) int get(atomic_int *from) {
    return atomic_load_explicit(from, memory_order_relaxed);
}

static inline __attribute__((always_inline)) void set(atomic_int *to, int value) {
    atomic_store_explicit(to, value, memory_order_relaxed);
}
