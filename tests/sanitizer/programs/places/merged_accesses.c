// Two plain accesses of which clang makes one, which has no line in its debug information.
// lines of write_one: 8 to 14
// lines of read_one: 15 to 26
#include <pthread.h>

static int shared, other;

__attribute__((noinline)) static void write_one(int which) {
    if (which)
        shared = 1;
    else
        shared = 2;
}

__attribute__((noinline)) static int read_one(int which, int const* from) {
    int result;
    if (which) {
        result = from[0];
        other = 1;
    } else {
        result = from[0];
        other = 2;
    }
    return result;
}

static void* work(void* argument) {
    write_one(argument != NULL);
    return read_one(argument != NULL, &shared) ? argument : NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, work, NULL);
    pthread_create(&threads[1], NULL, work, &other);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    return 0;
}
