// Initialisation by whoever comes first; the others wait. All seq_cst.
#include "two.h"

enum { UNTOUCHED, BEGUN, DONE };
static atomic_int state;
static int value;

static void* use(void* nothing) {
    (void)nothing;
    int expected = UNTOUCHED;
    if (atomic_load(&state) != DONE) {
        if (atomic_compare_exchange_strong(&state, &expected, BEGUN)) {
            value = 42;
            atomic_store(&state, DONE);
        } else {
            while (atomic_load(&state) != DONE);
        }
    }
    return RESULT(value);
}

int main(void) {
    RUN(use, use);
}
