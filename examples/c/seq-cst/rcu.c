// Publication as in read-copy-update: a new version is written, then the pointer to it; all seq_cst.
#include "two.h"

struct version {
    int a, b;
};
static struct version versions[2] = {{1, 1}};
static _Atomic(struct version*) current = &versions[0];

static void* writer(void* nothing) {
    versions[1].a = 2;
    versions[1].b = 2;
    atomic_store(&current, &versions[1]);
    return nothing;
}

static void* reader(void* nothing) {
    (void)nothing;
    struct version* version = atomic_load(&current);
    return RESULT(version->a + version->b);
}

int main(void) {
    RUN(writer, reader);
}
