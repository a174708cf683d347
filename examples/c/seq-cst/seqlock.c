// A sequence lock (Boehm, Can seqlocks get along with programming language memory models?, 2012), all
// seq_cst. The reader tries once.
#include "two.h"

static atomic_int sequence, first, second;

static void* writer(void* nothing) {
    int before = atomic_load(&sequence);
    atomic_store(&sequence, before + 1);
    atomic_store(&first, 1);
    atomic_store(&second, 1);
    atomic_store(&sequence, before + 2);
    return nothing;
}

static void* reader(void* nothing) {
    int before = atomic_load(&sequence);
    if (before % 2) return nothing;
    int a = atomic_load(&first), b = atomic_load(&second);
    return RESULT(atomic_load(&sequence) == before ? a + b : 0);
}

int main(void) {
    RUN(writer, reader);
}
