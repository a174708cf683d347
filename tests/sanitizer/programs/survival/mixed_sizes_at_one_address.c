// Mixed sizes at one address.
//
// prints: 7d0 7d0
#include "all.h"

static union { uint8_t bytes[8]; uint16_t half; uint32_t word; uint64_t all; } u;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* work(void* _) {
    for (int i = 0; i < 1000; ++i) {
        pthread_mutex_lock(&mutex);
        uint64_t before = __atomic_fetch_add(&u.all, 0x100000000, __ATOMIC_RELAXED);
        __atomic_fetch_add(&u.word, 1, __ATOMIC_RELAXED);
        assert(__atomic_load_n(&u.all, __ATOMIC_RELAXED) == before + 0x100000001);
        __atomic_store_n(&u.half, (uint16_t)(before + 1), __ATOMIC_RELAXED);
        (void)__atomic_load_n(&u.bytes[i % 8], __ATOMIC_RELAXED);
        pthread_mutex_unlock(&mutex);
    }
    return _;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    work(NULL);
    pthread_join(t, NULL);
    printf("%x %x", (unsigned)(u.all >> 32), u.word);
    return 0;
}
