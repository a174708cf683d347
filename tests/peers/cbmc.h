/* What a written program needs under CBMC, which follows no pointers between threads: accesses are macros, and a
 * thread whose wait is not over ends there. On TSO a seq_cst store and a read-modify-write are full fences. */
#include <stdint.h>

#define _Atomic
#define volatile
#define fprintf(...) __CPROVER_assert(0, "said by the program")
#define pthread_exit(result) ((void)(result), __CPROVER_assume(0))

unsigned nondet_unsigned(void);
#define fp_choose(n) (nondet_unsigned() % (n))

enum { memory_order_relaxed, memory_order_consume, memory_order_acquire, memory_order_release, memory_order_acq_rel,
       memory_order_seq_cst };
#define FULL_FENCE() __CPROVER_fence("WWfence", "RRfence", "RWfence", "WRfence")
#define atomic_thread_fence(order) \
    do { \
        if ((order) == memory_order_seq_cst) FULL_FENCE(); \
    } while (0)

#define atomic_load_explicit(x, order) (*(x))
#define atomic_store_explicit(x, value, order) \
    do { \
        *(x) = (value); \
        atomic_thread_fence(order); \
    } while (0)

/* The value before; `change` is a statement about `old`. */
#define UPDATE(x, change) \
    __extension__({ \
        FULL_FENCE(); \
        __CPROVER_atomic_begin(); \
        __typeof__(*(x)) old = *(x); \
        change; \
        __CPROVER_atomic_end(); \
        FULL_FENCE(); \
        old; \
    })
#define atomic_exchange_explicit(x, value, order) UPDATE(x, *(x) = (value))
#define atomic_fetch_add_explicit(x, value, order) UPDATE(x, *(x) = old + (value))
#define atomic_fetch_sub_explicit(x, value, order) UPDATE(x, *(x) = old - (value))
#define atomic_fetch_and_explicit(x, value, order) UPDATE(x, *(x) = old & (value))
#define atomic_fetch_or_explicit(x, value, order) UPDATE(x, *(x) = old | (value))
#define atomic_fetch_xor_explicit(x, value, order) UPDATE(x, *(x) = old ^ (value))
#define fp_cas(x, expected, desired, success, failure) UPDATE(x, if (old == (expected)) *(x) = (desired))
#define fp_bcas(x, expected, desired, order) \
    do { \
        if (fp_cas(x, expected, desired, order, order) != (expected)) return 0; \
    } while (0)

#define WAIT(x, is_over) \
    __extension__({ \
        __typeof__(*(x)) now = *(x); \
        if (!(is_over)) return 0; \
        now; \
    })
#define fp_wait(x, value, order) WAIT(x, now == (value))
#define ONE_OF(a, b, c, d, ...) (now == (a) || now == (b) || now == (c) || now == (d))
#define fp_wait_any(x, order, a, ...) WAIT(x, ONE_OF(a, __VA_ARGS__, a, a, a))
