// Clients of mimalloc for `fencepost check`: two threads that allocate or free one block each. The Makefile
// builds them with mimalloc's source.
#include <fencepost.h>
#include <mimalloc.h>

namespace {

void *first, *second;

}  // namespace

fp_test(mimalloc_free_free) {
    fp_setup {
        first = mi_malloc(64);
        second = mi_malloc(64);
    }
    fp_thread { mi_free(first); }
    fp_thread { mi_free(second); }
    fp_check { fp_assert(mi_malloc(64) != nullptr); }
}

fp_test(mimalloc_free_malloc) {
    fp_setup { first = mi_malloc(64); }
    fp_thread { mi_free(first); }
    fp_thread { second = mi_malloc(64); }
    fp_check { fp_assert(second != nullptr); }
}

fp_test(mimalloc_malloc_malloc) {
    fp_thread { first = mi_malloc(64); }
    fp_thread { second = mi_malloc(64); }
    fp_check { fp_assert(first != nullptr && second != nullptr && first != second); }
}
