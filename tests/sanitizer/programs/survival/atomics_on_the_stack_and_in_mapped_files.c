// Atomics on the stack and in mapped files.
#include "all.h"

static void* add(void* x) { atomic_fetch_add((atomic_int*)x, 1); return x; }
static int on_stack(void) {
    atomic_int x = 0;
    pthread_t t;
    pthread_create(&t, NULL, add, &x);
    add(&x);
    pthread_join(t, NULL);
    return x;
}
int main(void) {
    for (int i = 0; i < 20; ++i) assert(on_stack() == 2);
    FILE* file = tmpfile();
    assert(ftruncate(fileno(file), 8192) == 0);
    for (int i = 1; i <= 20; ++i) {
        atomic_int* x = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
        assert(x != MAP_FAILED);
        pthread_t t;
        pthread_create(&t, NULL, add, x);
        pthread_join(t, NULL);
        assert(atomic_load(x) == i);
        munmap(x, 8192);
    }
    fclose(file);
    return 0;
}
