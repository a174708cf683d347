// Dekker's entry where one side has no fence: the other makes one for it, by membarrier(2). So do
// liburcu and others.
#include "all.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
static atomic_int reads;
static int kept[2] = {1, 2};
static int* _Atomic current = &kept[0];
static void* reader(void* _) {
    for (int i = 0; i < 20; ++i) {
        atomic_store_explicit(&reads, 1, RELAXED);
        atomic_signal_fence(SEQ);  // and no fence of the processor
        int* const list = atomic_load_explicit(&current, memory_order_consume);
        if (*list < 1) abort();
        atomic_store_explicit(&reads, 0, memory_order_release);
    }
    return _;
}
int main(void) {
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0) return 0;
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    atomic_store_explicit(&current, &kept[1], memory_order_release);
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    while (atomic_load_explicit(&reads, memory_order_acquire) != 0) {
    }
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    kept[0] = 0;  // nobody has it any more
    pthread_join(thread, NULL);
    return 0;
}
