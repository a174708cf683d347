// A sequence lock (Boehm, Can seqlocks get along with programming language memory models?, 2012). Writers
// make the number odd, write, and make it even again; readers take the data without writing anything and drop
// it if the number has changed or is odd. Here all data is written with release and read with acquire, so
// that not even data that is dropped was read out of order.
// expect: robust rc20=yes
// Why: seqlock.tpl, by the static engine, for two writers and one reader.
#include <sched.h>
#include <stdatomic.h>

#include "threads.h"

#ifndef DATA_STORE
#define DATA_STORE memory_order_release
#define DATA_LOAD memory_order_acquire
#endif
#ifndef WRITER_FENCE
#define WRITER_FENCE() ((void)0)
#define READER_FENCE() ((void)0)
#endif
#ifndef LAST_LOAD
#define LAST_LOAD memory_order_acquire
#endif

static atomic_uint sequence;
static atomic_int first, second;

static void write_pair(int value) {
    for (;;) {
        unsigned before = atomic_load_explicit(&sequence, memory_order_acquire);
        if (before % 2 == 0 &&
            atomic_compare_exchange_strong_explicit(&sequence, &before, before + 1, memory_order_acq_rel,
                                                    memory_order_acquire)) {
            WRITER_FENCE();
            atomic_store_explicit(&first, value, DATA_STORE);
            atomic_store_explicit(&second, value, DATA_STORE);
            atomic_store_explicit(&sequence, before + 2, memory_order_release);
            return;
        }
        sched_yield();
    }
}

static void read_pair(void) {
    for (;;) {
        unsigned before = atomic_load_explicit(&sequence, memory_order_acquire);
        int a = atomic_load_explicit(&first, DATA_LOAD);
        int b = atomic_load_explicit(&second, DATA_LOAD);
        READER_FENCE();
        unsigned after = atomic_load_explicit(&sequence, LAST_LOAD);
        if (before % 2 == 0 && before == after) {
            check(a == b, "a reader sees both or none of two writes");
            return;
        }
        sched_yield();
    }
}

static void thread_body(int number) {
    for (int i = 0; i < ROUNDS; i++) {
        if (number < THREADS - 1)
            write_pair(2 * i + number);
        else
            read_pair();
    }
}

int main(void) {
    run_threads(THREADS);
    return 0;
}
