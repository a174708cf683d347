// Each byte is written by a thread of its own, and the loop waits for both as one word.
// summary: undecided: a loop waits for memory of which several threads write different parts
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stddef.h>
static _Alignas(2) uint8_t bytes[2];
static void* write_one(void* byte) {
    __atomic_store_n((uint8_t*)byte, 1, __ATOMIC_RELEASE);
    return NULL;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, write_one, &bytes[0]);
    pthread_create(&b, NULL, write_one, &bytes[1]);
    while (__atomic_load_n((uint16_t*)bytes, __ATOMIC_ACQUIRE) != 0x0101) {
    }
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
