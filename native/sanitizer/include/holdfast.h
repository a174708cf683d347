/* Operations that say what a loop over an atomic is for. In a program that is not built with holdfast-cc or
 * holdfast-c++ they are plain C11 or C++11; in one that is, the sanitizer knows that only the last round of
 * the loop counts (rsan-2025, section 4.3): a round that sees an old value does no harm.
 *
 *   hf_wait(&x, v, order)                    waits until x holds v; gives v
 *   hf_wait_any(&x, order, v1, v2, …)        waits until x holds one of the values; gives the one it holds
 *   hf_bcas(&x, expected, desired, order)    waits until x holds `expected` and replaces it with `desired`
 *   hf_cas(&x, expected, desired, success, failure)
 *                                            strong compare-and-exchange; gives the value that x held
 *   hf_choose(n)                             a number below n; under a schedule it depends on the seed alone
 *
 * `x` is an atomic object, `_Atomic T` or `std::atomic<T>`, or a plain object that is only used atomically; T
 * is an integer, an enumeration, a boolean or a pointer of at most 8 bytes. Orders are those of the language.
 */
#ifndef HOLDFAST_H
#define HOLDFAST_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __cplusplus
#include <atomic>
extern "C" {
#endif

#ifdef __HOLDFAST__
uint64_t __holdfast_wait(volatile void* location, size_t size, int order, size_t count,
                         const uint64_t* values);
void __holdfast_bcas(volatile void* location, size_t size, uint64_t expected, uint64_t desired, int order);
uint64_t __holdfast_cas(volatile void* location, size_t size, uint64_t expected, uint64_t desired,
                        int success, int failure);
uint32_t __holdfast_choose(uint32_t n);
#endif

static inline uint32_t hf_choose(uint32_t n) {
#ifdef __HOLDFAST__
    return __holdfast_choose(n);
#else
    return (uint32_t)rand() % n;
#endif
}

static inline void hf_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#ifdef __cplusplus
}

namespace holdfast_detail {

/* The object's bytes as a number, and back. */
template <class T>
uint64_t to_bits(T value) {
    static_assert(sizeof(T) <= 8, "holdfast: at most 8 bytes");
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
#ifdef __HOLDFAST__
    uint64_t bits[16];
    for (size_t i = 0; i < count; ++i) bits[i] = to_bits(values[i]);
    return from_bits<T>(__holdfast_wait(x, sizeof(T), (int)order, count, bits));
#else
    for (;; hf_pause()) {
        T value;
        __atomic_load(const_cast<T*>(x), &value, (int)order);
        if (one_of(value, values, values + count)) return value;
    }
#endif
}

template <class T>
T cas(volatile T* x, T expected, T desired, std::memory_order success, std::memory_order failure) {
#ifdef __HOLDFAST__
    return from_bits<T>(
        __holdfast_cas(x, sizeof(T), to_bits(expected), to_bits(desired), (int)success, (int)failure));
#else
    __atomic_compare_exchange(const_cast<T*>(x), &expected, &desired, false, (int)success, (int)failure);
    return expected;
#endif
}

template <class T>
void bcas(volatile T* x, T expected, T desired, std::memory_order order) {
#ifdef __HOLDFAST__
    __holdfast_bcas(x, sizeof(T), to_bits(expected), to_bits(desired), (int)order);
#else
    for (T seen = expected; !__atomic_compare_exchange(const_cast<T*>(x), &seen, &desired, false, (int)order,
                                                       (int)std::memory_order_relaxed);
         seen = expected)
        hf_pause();
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

}  // namespace holdfast_detail

template <class X>
typename holdfast_detail::value_of<X>::type hf_wait(X* x, typename holdfast_detail::value_of<X>::type value,
                                                    std::memory_order order) {
    return holdfast_detail::wait(holdfast_detail::object(x), order, 1, &value);
}
template <class X, class... Values>
typename holdfast_detail::value_of<X>::type hf_wait_any(X* x, std::memory_order order, Values... values) {
    typedef typename holdfast_detail::value_of<X>::type T;
    static_assert(sizeof...(values) <= 16, "holdfast: at most 16 values");
    const T list[] = {static_cast<T>(values)...};
    return holdfast_detail::wait(holdfast_detail::object(x), order, sizeof...(values), list);
}
template <class X>
void hf_bcas(X* x, typename holdfast_detail::value_of<X>::type expected,
             typename holdfast_detail::value_of<X>::type desired, std::memory_order order) {
    holdfast_detail::bcas(holdfast_detail::object(x), expected, desired, order);
}
template <class X>
typename holdfast_detail::value_of<X>::type hf_cas(X* x, typename holdfast_detail::value_of<X>::type expected,
                                                   typename holdfast_detail::value_of<X>::type desired,
                                                   std::memory_order success, std::memory_order failure) {
    return holdfast_detail::cas(holdfast_detail::object(x), expected, desired, success, failure);
}

#else /* C */

/* The type of *x without _Atomic and other qualifiers: the comma operator converts its operand to a value. */
#define HF_VALUE_OF(x) __typeof__(((void)0, *(x)))
#define HF_BITS(x, v) ((uint64_t)(v) & (~(uint64_t)0 >> (64 - 8 * sizeof *(x))))

#ifdef __HOLDFAST__

#define hf_wait(x, v, order) \
    ((HF_VALUE_OF(x))__holdfast_wait((x), sizeof *(x), (int)(order), 1, (const uint64_t[]){HF_BITS(x, v)}))
#define hf_wait_any(x, order, ...)                                                                         \
    __extension__({                                                                                        \
        const HF_VALUE_OF(x) hf_values_[] = {__VA_ARGS__};                                                 \
        uint64_t hf_bits_[sizeof hf_values_ / sizeof *hf_values_];                                         \
        for (size_t hf_i_ = 0; hf_i_ < sizeof hf_values_ / sizeof *hf_values_; ++hf_i_)                    \
            hf_bits_[hf_i_] = HF_BITS(x, hf_values_[hf_i_]);                                               \
        (HF_VALUE_OF(x))                                                                                   \
            __holdfast_wait((x), sizeof *(x), (int)(order), sizeof hf_bits_ / sizeof *hf_bits_, hf_bits_); \
    })
#define hf_bcas(x, expected, desired, order) \
    __holdfast_bcas((x), sizeof *(x), HF_BITS(x, expected), HF_BITS(x, desired), (int)(order))
#define hf_cas(x, expected, desired, success, failure)                                           \
    ((HF_VALUE_OF(x))__holdfast_cas((x), sizeof *(x), HF_BITS(x, expected), HF_BITS(x, desired), \
                                    (int)(success), (int)(failure)))

#else

#define hf_wait(x, v, order) hf_wait_any(x, order, v)
#define hf_wait_any(x, order, ...)                                                          \
    __extension__({                                                                         \
        volatile HF_VALUE_OF(x)* hf_x_ = (volatile HF_VALUE_OF(x)*)(x);                     \
        const HF_VALUE_OF(x) hf_values_[] = {__VA_ARGS__};                                  \
        HF_VALUE_OF(x) hf_seen_;                                                            \
        for (int hf_found_ = 0; !hf_found_;) {                                              \
            hf_seen_ = __atomic_load_n(hf_x_, (int)(order));                                \
            for (size_t hf_i_ = 0; hf_i_ < sizeof hf_values_ / sizeof *hf_values_; ++hf_i_) \
                hf_found_ |= hf_values_[hf_i_] == hf_seen_;                                 \
            if (!hf_found_) hf_pause();                                                     \
        }                                                                                   \
        hf_seen_;                                                                           \
    })
#define hf_bcas(x, expected, desired, order)                                                                 \
    __extension__({                                                                                          \
        volatile HF_VALUE_OF(x)* hf_x_ = (volatile HF_VALUE_OF(x)*)(x);                                      \
        const HF_VALUE_OF(x) hf_expected_ = (expected), hf_desired_ = (desired);                             \
        for (HF_VALUE_OF(x) hf_seen_ = hf_expected_;                                                         \
             !__atomic_compare_exchange_n(hf_x_, &hf_seen_, hf_desired_, 0, (int)(order), __ATOMIC_RELAXED); \
             hf_seen_ = hf_expected_)                                                                        \
            hf_pause();                                                                                      \
    })
#define hf_cas(x, expected, desired, success, failure)                                                      \
    __extension__({                                                                                         \
        HF_VALUE_OF(x) hf_seen_ = (expected);                                                               \
        __atomic_compare_exchange_n((volatile HF_VALUE_OF(x)*)(x), &hf_seen_, (desired), 0, (int)(success), \
                                    (int)(failure));                                                        \
        hf_seen_;                                                                                           \
    })

#endif
#endif
#endif
