#include <stdatomic.h>
int get(atomic_int* x);
int get(atomic_int* x) {
    return atomic_load(x);
}
