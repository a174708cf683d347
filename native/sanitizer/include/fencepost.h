/* Operations that say what a loop over an atomic is for. In a program that is not built with fencepost-cc or
 * fencepost-c++ they are plain C11 or C++11; in one that is, the sanitizer knows that only the last round of
 * the loop counts (rsan-2025, section 4.3): a round that sees an old value does no harm.
 *
 *   fp_wait(&x, v, order)                    waits until x holds v; gives v
 *   fp_wait_any(&x, order, v1, v2, …)        waits until x holds one of the values; gives the one it holds
 *   fp_bcas(&x, expected, desired, order)    waits until x holds `expected` and replaces it with `desired`
 *   fp_cas(&x, expected, desired, success, failure)
 *                                            strong compare-and-exchange; gives the value that x held
 *   fp_choose(n)                             a number below n; under a schedule it depends on the seed alone,
 *                                            and `fencepost check` tries all of them
 *
 * `x` is an atomic object, `_Atomic T` or `std::atomic<T>`, or a plain object that is only used atomically; T
 * is an integer, an enumeration, a boolean or a pointer of at most 8 bytes. Orders are those of the language.
 *
 * Tests, which `fencepost check` runs one by one, each in all its executions:
 *
 *   fp_test(name) {
 *       fp_setup { x = y = 0; }                    before the threads; may be left out, as the others may
 *       fp_thread { x = 1; a = y; }                a thread
 *       fp_threads(2, i) { count += i; }           two more, with i = 0 and i = 1
 *       fp_check { fp_assert(a || b); }            when all threads have ended
 *   }
 *
 * The body is called once for each part, and each call does only its own: what the parts share is declared
 * outside, or static. A body without parts is called once, and may start threads of its own.
 * fencepost-cc and fencepost-c++ give a program with tests a `main` if it has none. In other builds, define
 * FP_TEST_MAIN before this header is included in one of the files. A `main` of your own may call
 * fp_run_tests(argc, argv): the arguments are names of tests, none stands for all, and `--list` lists them.
 */
#ifndef FENCEPOST_H
#define FENCEPOST_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
#include <atomic>
extern "C" {
#endif

#ifdef __FENCEPOST__
uint64_t __fencepost_wait(volatile void* location, size_t size, int order, size_t count,
                         const uint64_t* values);
void __fencepost_bcas(volatile void* location, size_t size, uint64_t expected, uint64_t desired, int order);
uint64_t __fencepost_cas(volatile void* location, size_t size, uint64_t expected, uint64_t desired,
                        int success, int failure);
uint32_t __fencepost_choose(uint32_t n);
#endif

static inline uint32_t fp_choose(uint32_t n) {
#ifdef __FENCEPOST__
    return __fencepost_choose(n);
#else
    return (uint32_t)rand() % n;
#endif
}

static inline void fp_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#ifdef __cplusplus
}

namespace fencepost_detail {

/* The object's bytes as a number, and back. */
template <class T>
uint64_t to_bits(T value) {
    static_assert(sizeof(T) <= 8, "fencepost: at most 8 bytes");
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}
template <class T>
T from_bits(uint64_t bits) {
    T value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

template <class T>
bool one_of(T value, const T* begin, const T* end) {
    for (; begin != end; ++begin)
        if (*begin == value) return true;
    return false;
}

template <class T>
T wait(volatile T* x, std::memory_order order, size_t count, const T* values) {
#ifdef __FENCEPOST__
    uint64_t bits[16];
    for (size_t i = 0; i < count; ++i) bits[i] = to_bits(values[i]);
    return from_bits<T>(__fencepost_wait(x, sizeof(T), (int)order, count, bits));
#else
    for (;; fp_pause()) {
        T value;
        __atomic_load(const_cast<T*>(x), &value, (int)order);
        if (one_of(value, values, values + count)) return value;
    }
#endif
}

template <class T>
T cas(volatile T* x, T expected, T desired, std::memory_order success, std::memory_order failure) {
#ifdef __FENCEPOST__
    return from_bits<T>(
        __fencepost_cas(x, sizeof(T), to_bits(expected), to_bits(desired), (int)success, (int)failure));
#else
    __atomic_compare_exchange(const_cast<T*>(x), &expected, &desired, false, (int)success, (int)failure);
    return expected;
#endif
}

template <class T>
void bcas(volatile T* x, T expected, T desired, std::memory_order order) {
#ifdef __FENCEPOST__
    __fencepost_bcas(x, sizeof(T), to_bits(expected), to_bits(desired), (int)order);
#else
    for (T seen = expected; !__atomic_compare_exchange(const_cast<T*>(x), &seen, &desired, false, (int)order,
                                                       (int)std::memory_order_relaxed);
         seen = expected)
        fp_pause();
#endif
}

template <class T>
volatile T* object(std::atomic<T>* x) {
    return reinterpret_cast<volatile T*>(x);
}
template <class T>
volatile T* object(volatile std::atomic<T>* x) {
    return reinterpret_cast<volatile T*>(x);
}
template <class T>
volatile T* object(volatile T* x) {
    return x;
}
template <class X>
struct value_of {
    typedef X type;
};
template <class T>
struct value_of<std::atomic<T> > {
    typedef T type;
};
template <class T>
struct value_of<volatile T> : value_of<T> {};

}  // namespace fencepost_detail

template <class X>
typename fencepost_detail::value_of<X>::type fp_wait(X* x, typename fencepost_detail::value_of<X>::type value,
                                                    std::memory_order order) {
    return fencepost_detail::wait(fencepost_detail::object(x), order, 1, &value);
}
template <class X, class... Values>
typename fencepost_detail::value_of<X>::type fp_wait_any(X* x, std::memory_order order, Values... values) {
    typedef typename fencepost_detail::value_of<X>::type T;
    static_assert(sizeof...(values) <= 16, "fencepost: at most 16 values");
    const T list[] = {static_cast<T>(values)...};
    return fencepost_detail::wait(fencepost_detail::object(x), order, sizeof...(values), list);
}
template <class X>
void fp_bcas(X* x, typename fencepost_detail::value_of<X>::type expected,
             typename fencepost_detail::value_of<X>::type desired, std::memory_order order) {
    fencepost_detail::bcas(fencepost_detail::object(x), expected, desired, order);
}
template <class X>
typename fencepost_detail::value_of<X>::type fp_cas(X* x, typename fencepost_detail::value_of<X>::type expected,
                                                   typename fencepost_detail::value_of<X>::type desired,
                                                   std::memory_order success, std::memory_order failure) {
    return fencepost_detail::cas(fencepost_detail::object(x), expected, desired, success, failure);
}

#else /* C */

/* The type of *x without _Atomic and other qualifiers: the comma operator converts its operand to a value. */
#define FP_VALUE_OF(x) __typeof__(((void)0, *(x)))
#define FP_BITS(x, v) ((uint64_t)(v) & (~(uint64_t)0 >> (64 - 8 * sizeof *(x))))

#ifdef __FENCEPOST__

#define fp_wait(x, v, order) \
    ((FP_VALUE_OF(x))__fencepost_wait((x), sizeof *(x), (int)(order), 1, (const uint64_t[]){FP_BITS(x, v)}))
#define fp_wait_any(x, order, ...)                                                                         \
    __extension__({                                                                                        \
        const FP_VALUE_OF(x) fp_values_[] = {__VA_ARGS__};                                                 \
        uint64_t fp_bits_[sizeof fp_values_ / sizeof *fp_values_];                                         \
        for (size_t fp_i_ = 0; fp_i_ < sizeof fp_values_ / sizeof *fp_values_; ++fp_i_)                    \
            fp_bits_[fp_i_] = FP_BITS(x, fp_values_[fp_i_]);                                               \
        (FP_VALUE_OF(x))                                                                                   \
            __fencepost_wait((x), sizeof *(x), (int)(order), sizeof fp_bits_ / sizeof *fp_bits_, fp_bits_); \
    })
#define fp_bcas(x, expected, desired, order) \
    __fencepost_bcas((x), sizeof *(x), FP_BITS(x, expected), FP_BITS(x, desired), (int)(order))
#define fp_cas(x, expected, desired, success, failure)                                           \
    ((FP_VALUE_OF(x))__fencepost_cas((x), sizeof *(x), FP_BITS(x, expected), FP_BITS(x, desired), \
                                    (int)(success), (int)(failure)))

#else

#define fp_wait(x, v, order) fp_wait_any(x, order, v)
#define fp_wait_any(x, order, ...)                                                          \
    __extension__({                                                                         \
        volatile FP_VALUE_OF(x)* fp_x_ = (volatile FP_VALUE_OF(x)*)(x);                     \
        const FP_VALUE_OF(x) fp_values_[] = {__VA_ARGS__};                                  \
        FP_VALUE_OF(x) fp_seen_;                                                            \
        for (int fp_found_ = 0; !fp_found_;) {                                              \
            fp_seen_ = __atomic_load_n(fp_x_, (int)(order));                                \
            for (size_t fp_i_ = 0; fp_i_ < sizeof fp_values_ / sizeof *fp_values_; ++fp_i_) \
                fp_found_ |= fp_values_[fp_i_] == fp_seen_;                                 \
            if (!fp_found_) fp_pause();                                                     \
        }                                                                                   \
        fp_seen_;                                                                           \
    })
#define fp_bcas(x, expected, desired, order)                                                                 \
    __extension__({                                                                                          \
        volatile FP_VALUE_OF(x)* fp_x_ = (volatile FP_VALUE_OF(x)*)(x);                                      \
        const FP_VALUE_OF(x) fp_expected_ = (expected), fp_desired_ = (desired);                             \
        for (FP_VALUE_OF(x) fp_seen_ = fp_expected_;                                                         \
             !__atomic_compare_exchange_n(fp_x_, &fp_seen_, fp_desired_, 0, (int)(order), __ATOMIC_RELAXED); \
             fp_seen_ = fp_expected_)                                                                        \
            fp_pause();                                                                                      \
    })
#define fp_cas(x, expected, desired, success, failure)                                                      \
    __extension__({                                                                                         \
        FP_VALUE_OF(x) fp_seen_ = (expected);                                                               \
        __atomic_compare_exchange_n((volatile FP_VALUE_OF(x)*)(x), &fp_seen_, (desired), 0, (int)(success), \
                                    (int)(failure));                                                        \
        fp_seen_;                                                                                           \
    })

#endif
#endif

/* Ends the program with a message unless the condition holds, also with NDEBUG. */
#define fp_assert(condition) \
    ((condition) ? (void)0 : fp_assertion_failed(#condition, __FILE__, __LINE__))

#ifdef __clang__
#define FP_IN_ORDER
#else
#define FP_IN_ORDER , no_reorder
#endif
#define fp_test(name)                                                                                     \
    static void fp_test_##name(struct fp_part*);                                                          \
    static const char fp_name_of_##name[] __attribute__((section("fp_test_names") FP_IN_ORDER, used)) = #name; \
    static const struct fp_registered_test fp_registered_##name = {fp_name_of_##name, fp_test_##name};    \
    static const struct fp_registered_test* fp_pointer_to_##name                              \
        __attribute__((section("fp_tests") FP_IN_ORDER, used)) =                                          \
        &fp_registered_##name;                                                                            \
    static void fp_test_##name(struct fp_part* fp_part_ __attribute__((unused)))
#define fp_setup if (fp_part_->pass == fp_pass_setup)
#define fp_thread if (fp_number_of_thread(fp_part_, 1) == 0)
#define fp_threads(n, i) for (int i = fp_number_of_thread(fp_part_, (n)); i >= 0; i = -1)
#define fp_check if (fp_part_->has_check = 1, fp_part_->pass == fp_pass_check)

#ifdef __cplusplus
extern "C" {
#endif

enum fp_pass { fp_pass_setup, fp_pass_thread, fp_pass_check };

/* A call of a test's body: which part it does, and what parts it has met. */
struct fp_part {
    enum fp_pass pass;
    int thread; /* which, if it is one */
    int threads;
    int has_check;
    void (*body)(struct fp_part*);
};

struct fp_registered_test {
    const char* name;
    void (*body)(struct fp_part*);
};

/* From the linker; both null if there is no test and none is needed. */
#ifndef FP_TESTS
#define FP_TESTS __attribute__((weak, visibility("hidden")))
#endif
extern const struct fp_registered_test* __start_fp_tests[] FP_TESTS;
extern const struct fp_registered_test* __stop_fp_tests[] FP_TESTS;

/* Which of the next n threads the call is; -1: none of them. */
static inline int fp_number_of_thread(struct fp_part* part, int n) {
    int number = part->thread - part->threads;
    part->threads += n;
    return part->pass == fp_pass_thread && number >= 0 && number < n ? number : -1;
}

__attribute__((noreturn, unused)) static void fp_assertion_failed(const char* what, const char* file,
                                                                 int line) {
    fprintf(stderr, "%s:%d: fp_assert(%s) failed\n", file, line, what);
    fflush(NULL);
    abort();
}

__attribute__((unused)) static void* fp_run_thread(void* part) {
    ((struct fp_part*)part)->body((struct fp_part*)part);
    return NULL;
}

__attribute__((unused)) static void fp_run_test(const struct fp_registered_test* test) {
    struct fp_part part = {fp_pass_setup, -1, 0, 0, test->body};
    test->body(&part);
    int threads = part.threads;
    struct fp_part* parts = (struct fp_part*)calloc((size_t)threads + 1, sizeof *parts);
    pthread_t* ids = (pthread_t*)calloc((size_t)threads + 1, sizeof *ids);
    for (int i = 0; i < threads; ++i) {
        struct fp_part own = {fp_pass_thread, i, 0, 0, test->body};
        parts[i] = own;
        if (pthread_create(&ids[i], NULL, fp_run_thread, &parts[i]) != 0) {
            perror("fp_test: pthread_create");
            exit(2);
        }
    }
    for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
    free(ids);
    free(parts);
    if (!part.has_check) return;
    part.pass = fp_pass_check;
    part.threads = 0;
    test->body(&part);
}

/* Gives the exit code: 0, or 2 if there is no such test. A test that fails ends the program. */
__attribute__((unused)) static int fp_run_tests(int argc, char** argv) {
    int list = argc == 2 && __builtin_strcmp(argv[1], "--list") == 0;
    for (int i = 1; i < argc && !list; ++i) {
        const struct fp_registered_test** test = __start_fp_tests;
        while (test < __stop_fp_tests && __builtin_strcmp((*test)->name, argv[i]) != 0) ++test;
        if (test == __stop_fp_tests) {
            fprintf(stderr, "%s: there is no test `%s`; --list lists them\n", argv[0], argv[i]);
            return 2;
        }
        fp_run_test(*test);
    }
    if (argc > 1 && !list) return 0;
    for (const struct fp_registered_test** test = __start_fp_tests; test < __stop_fp_tests; ++test) {
        if (!list) fp_run_test(*test);
        printf(list ? "%s\n" : "%s: passed\n", (*test)->name);
    }
    return 0;
}

#ifdef __cplusplus
}
#endif

#ifdef FP_TEST_MAIN
int main(int argc, char** argv) {
    return fp_run_tests(argc, argv);
}
#endif

#endif
