// Loads plug_in.so and calls it from several threads.
#include "../survival/all.h"

static atomic_int total;
static void* work(void* function) {
    for (int i = 0; i < 50; ++i) ((int (*)(atomic_int*))function)(&total);
    return NULL;
}
int main(void) {
    for (int i = 0; i < 3; ++i) {
        void* module = dlopen("./plug_in.so", RTLD_NOW);
        assert(module != NULL);
        void* function = dlsym(module, "count");
        pthread_t t;
        pthread_create(&t, NULL, work, function);
        work(function);
        pthread_join(t, NULL);
        dlclose(module);
    }
    printf("%d", atomic_load(&total));
    return 0;
}
