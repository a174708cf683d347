// The `main` of a program that has tests (fp_test in fencepost.h) and no `main` of its own. It stands in an
// archive of its own, from which the linker takes it only where `main` is missing. If there is no test either,
// the linker says so by the name of this file.
#define FP_TESTS __attribute__((visibility("hidden")))
#define FP_TEST_MAIN
#include "fencepost.h"
