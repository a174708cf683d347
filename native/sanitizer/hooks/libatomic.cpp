// The functions of libatomic. Compilers call them where they have no instruction of their own: 16 bytes
// without cmpxchg16b (clang), objects of other sizes, and objects that are not aligned.
//
// Objects of odd sizes are copied under a lock, as libatomic does it. All callers of the process come here,
// the program's libraries included, so nobody uses libatomic's locks for them.
#include <cstddef>
#include <cstdint>

#include "sanitizer/hooks/called_operations.hpp"
#include "sanitizer/hooks/operations.hpp"

using namespace fencepost;

// The compilers have these names built in, with types of their own: the definitions have other names, and the
// assembler is told the real ones.
#define LIBATOMIC(result, name, ...)                                                            \
    extern "C" [[gnu::weak, gnu::visibility("default"), gnu::noinline]] result fencepost##name( \
        __VA_ARGS__) __asm__(#name);                                                            \
    result fencepost##name(__VA_ARGS__)

namespace {

Lock odd_lock;

std::uint64_t bits_of(void const* bytes, std::size_t size) {
    std::uint64_t bits = 0;
    auto const* const p = static_cast<unsigned char const*>(bytes);
    for (std::size_t i = 0; i < size; ++i) bits = (bits ^ p[i]) * 0x100000001b3u;
    return bits;
}

// What an operation on an object of odd size did to it.
struct Outcome {
    bool wrote;
    std::uint64_t old, next;
};

SiteKind kind_of(Access access) {
    return access == Access::load    ? SiteKind::load
           : access == Access::store ? SiteKind::store
           : access == Access::cas   ? SiteKind::compare_exchange
                                     : SiteKind::exchange;
}

// `act` does it, under the lock; the rules are those of operations.hpp.
template <class Act>
void on_odd_size(void volatile* a, Access access, Order success, Order failure, std::uint64_t expected,
                 void const* frame, Act act) {
    SiteUse const at_site(kind_of(access), success, failure, frame);
    access_point([&] {
        auto next = operation(scheduler::Act::use, static_cast<char const volatile*>(a),
                              failure == Order::seq_cst ? failure : success, frame);
        next.size = 255;  // at least; the size is not known here
        return next;
    }());
    Hook hook;
    if (!watched(hook)) {
        Locked odd(odd_lock);
        act();
        return;
    }
    Thread& t = hook.thread();
    std::uintptr_t const pc = pc_of(frame);
    ++t.atomics;
    interrupt_await(t);
    std::uint32_t const stack = access == Access::load ? 0 : keep_stack(t, frame);
    Violation v;
    bool violated = false;
    Outcome outcome{};
    {
        auto const address = reinterpret_cast<std::uintptr_t>(a);
        LockedCell x(t, address, CellKind::atomic);
        Locked odd(odd_lock);
        outcome = act();
        if (!x) return;
        bool const acquires_message = acquires(access == Access::cas && !outcome.wrote ? failure : success);
        if (access != Access::store) races::acquire_message(t, x->race_message, a, acquires_message);
        if (access == Access::store)
            races::publish(t, x->race_message, releases(success));
        else if (outcome.wrote)
            races::extend(t, x->race_message, releases(success));
        keep_in_step(x, outcome.old, sizeof(std::uint64_t));
        violated = access == Access::load  ? check_load(t, *x, success, v)
                   : access == Access::cas ? check_cas(t, *x, success, failure, expected, v)
                                           : check_write(t, *x, success, v);
        Order const order = access == Access::cas && !outcome.wrote ? failure : success;
        AccessSite const site{pc, stack, outcome.wrote ? access : Access::load, order};
        if (!outcome.wrote)
            read_part(t, *x, acquires(order), site);
        else if (access == Access::store)
            write_part(t, *x, outcome.next, releases(success), site);
        else
            rmw_parts(t, *x, outcome.next, acquires(success), releases(success), site);
        if (is_weak()) follow_weakly(t, x, a, sizeof(std::uint64_t), outcome.old, outcome.next, site);
    }
    written(static_cast<char volatile*>(a), outcome.wrote && outcome.old != outcome.next);
    if (violated) {
        v.has_value = false;
        report(t, {access, success, 0, false, 0, reinterpret_cast<std::uintptr_t>(a), frame}, v);
    }
}

bool aligned(void const volatile* a, std::size_t size) {
    return reinterpret_cast<std::uintptr_t>(a) % size == 0;
}

// The value at `bytes`, of the type that p points to.
template <class T>
T value_like(T volatile*, void const* bytes) {
    T value;
    __builtin_memcpy(&value, bytes, sizeof value);
    return value;
}

// Calls action(T*) with the unsigned type of that size, if there is one.
template <class Action>
bool with_type(void volatile* a, std::size_t size, Action action) {
    if (size == 0 || size > 16 || (size & (size - 1)) != 0 || !aligned(a, size)) return false;
    switch (size) {
        case 1:
            action(static_cast<std::uint8_t volatile*>(a));
            break;
        case 2:
            action(static_cast<std::uint16_t volatile*>(a));
            break;
        case 4:
            action(static_cast<std::uint32_t volatile*>(a));
            break;
        case 8:
            action(static_cast<std::uint64_t volatile*>(a));
            break;
        default:
            action(static_cast<Bits128 volatile*>(a));
    }
    return true;
}

}  // namespace

#define FRAME __builtin_frame_address(0)

LIBATOMIC(void, __atomic_load, std::size_t size, void volatile* a, void* result, int order) {
    void const* const frame = FRAME;
    auto const typed = [&](auto* p) {
        auto const value = called_load(p, order, frame);
        __builtin_memcpy(result, &value, sizeof value);
    };
    if (with_type(a, size, typed)) return;
    on_odd_size(a, Access::load, order_of(order), Order::relaxed, 0, frame, [&] {
        __builtin_memcpy(result, const_cast<void*>(a), size);
        return Outcome{false, bits_of(result, size), 0};
    });
}

LIBATOMIC(void, __atomic_store, std::size_t size, void volatile* a, void const* value, int order) {
    void const* const frame = FRAME;
    auto const typed = [&](auto* p) { called_store(p, value_like(p, value), order, frame); };
    if (with_type(a, size, typed)) return;
    on_odd_size(a, Access::store, order_of(order), Order::relaxed, 0, frame, [&] {
        std::uint64_t const old = bits_of(const_cast<void*>(a), size);
        __builtin_memcpy(const_cast<void*>(a), value, size);
        return Outcome{true, old, bits_of(value, size)};
    });
}

LIBATOMIC(void, __atomic_exchange, std::size_t size, void volatile* a, void const* value, void* result,
          int order) {
    void const* const frame = FRAME;
    auto const typed = [&](auto* p) {
        auto const old = called_rmw(Operation::exchange, p, value_like(p, value), order, frame);
        __builtin_memcpy(result, &old, sizeof old);
    };
    if (with_type(a, size, typed)) return;
    on_odd_size(a, Access::rmw, order_of(order), Order::relaxed, 0, frame, [&] {
        std::uint64_t const next = bits_of(value, size);  // `result` may be where the value is
        std::uint64_t const old = bits_of(const_cast<void*>(a), size);
        auto* const bytes = static_cast<unsigned char*>(const_cast<void*>(a));
        for (std::size_t i = 0; i < size; ++i) {
            unsigned char const old_byte = bytes[i];
            bytes[i] = static_cast<unsigned char const*>(value)[i];
            static_cast<unsigned char*>(result)[i] = old_byte;
        }
        return Outcome{true, old, next};
    });
}

LIBATOMIC(bool, __atomic_compare_exchange, std::size_t size, void volatile* a, void* expected,
          void const* desired, int success, int failure) {
    void const* const frame = FRAME;
    bool succeeded = false;
    auto const typed = [&](auto* p) {
        auto const wanted = value_like(p, expected);
        auto const old = called_cas(p, wanted, value_like(p, desired), success, failure, frame);
        succeeded = old == wanted;
        __builtin_memcpy(expected, &old, sizeof old);
    };
    if (with_type(a, size, typed)) return succeeded;
    std::uint64_t const wanted = bits_of(expected, size);
    on_odd_size(a, Access::cas, order_of(success), order_of(failure), wanted, frame, [&] {
        auto* const object = const_cast<void*>(a);
        std::uint64_t const old = bits_of(object, size);
        succeeded = __builtin_memcmp(object, expected, size) == 0;
        if (succeeded)
            __builtin_memcpy(object, desired, size);
        else
            __builtin_memcpy(expected, object, size);
        return Outcome{succeeded, old, bits_of(desired, size)};
    });
    return succeeded;
}

LIBATOMIC(bool, __atomic_is_lock_free, std::size_t size, void const volatile* a) {
    return size != 0 && size <= 16 && (size & (size - 1)) == 0 && (a == nullptr || aligned(a, size));
}

#define FETCH(size, T, name, operation)                                                              \
    LIBATOMIC(T, __atomic_fetch_##name##_##size, T volatile* a, T operand, int order) {              \
        return called_rmw(operation, a, operand, order, FRAME);                                      \
    }                                                                                                \
    LIBATOMIC(T, __atomic_##name##_fetch_##size, T volatile* a, T operand, int order) {              \
        return ChosenUpdate{operation}.of(called_rmw(operation, a, operand, order, FRAME), operand); \
    }
#define SIZED(size, T)                                                                                    \
    LIBATOMIC(T, __atomic_load_##size, T volatile* a, int order) {                                        \
        return called_load(a, order, FRAME);                                                              \
    }                                                                                                     \
    LIBATOMIC(void, __atomic_store_##size, T volatile* a, T value, int order) {                           \
        called_store(a, value, order, FRAME);                                                             \
    }                                                                                                     \
    LIBATOMIC(T, __atomic_exchange_##size, T volatile* a, T value, int order) {                           \
        return called_rmw(Operation::exchange, a, value, order, FRAME);                                   \
    }                                                                                                     \
    LIBATOMIC(bool, __atomic_compare_exchange_##size, T volatile* a, T* expected, T desired, int success, \
              int failure) {                                                                              \
        T const wanted = *expected;                                                                       \
        T const old = called_cas(a, wanted, desired, success, failure, FRAME);                            \
        if (old != wanted) *expected = old;                                                               \
        return old == wanted;                                                                             \
    }                                                                                                     \
    FETCH(size, T, add, Operation::add)                                                                   \
    FETCH(size, T, sub, Operation::subtract)                                                              \
    FETCH(size, T, and, Operation::and_)                                                                  \
    FETCH(size, T, or, Operation::or_)                                                                    \
    FETCH(size, T, xor, Operation::xor_)                                                                  \
    FETCH(size, T, nand, Operation::nand)

SIZED(1, std::uint8_t)
SIZED(2, std::uint16_t)
SIZED(4, std::uint32_t)
SIZED(8, std::uint64_t)
SIZED(16, Bits128)
