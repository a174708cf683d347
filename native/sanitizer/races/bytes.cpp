// The functions on bytes that compilers call by themselves. In mode races the C library's are in
// ThreadSanitizer's hands, which would take our own data for the program's.
#include <cstddef>
#include <cstdint>

namespace {

typedef long long Vector [[gnu::vector_size(16), gnu::aligned(1), gnu::may_alias]];

// Keeps the compiler from making of a loop what the loop is there for.
inline void as_written() {
    asm volatile("" ::: "memory");
}

}  // namespace

// The compilers have these names built in: the definitions have other names, and the assembler is told the
// real ones.
#define OURS(result, name, ...)                                                                   \
    extern "C" [[gnu::visibility("hidden")]] result fencepost_##name(__VA_ARGS__) __asm__(#name); \
    result fencepost_##name(__VA_ARGS__)

OURS(void*, memcpy, void* __restrict to, void const* __restrict from, std::size_t bytes) {
    auto* out = static_cast<char*>(to);
    auto const* in = static_cast<char const*>(from);
    for (; bytes >= sizeof(Vector); bytes -= sizeof(Vector), out += sizeof(Vector), in += sizeof(Vector)) {
        *reinterpret_cast<Vector*>(out) = *reinterpret_cast<Vector const*>(in);
        as_written();
    }
    for (; bytes > 0; --bytes, ++out, ++in) {
        *out = *in;
        as_written();
    }
    return to;
}

OURS(void*, memmove, void* to, void const* from, std::size_t bytes) {
    if (reinterpret_cast<std::uintptr_t>(to) <= reinterpret_cast<std::uintptr_t>(from))
        return fencepost_memcpy(to, from, bytes);
    auto* const out = static_cast<char*>(to);
    auto const* const in = static_cast<char const*>(from);
    for (; bytes > 0; --bytes) {
        out[bytes - 1] = in[bytes - 1];
        as_written();
    }
    return to;
}

OURS(void*, memset, void* to, int value, std::size_t bytes) {
    auto* out = static_cast<char*>(to);
    char const byte = static_cast<char>(value);
    Vector const vector =
        Vector{} + static_cast<long long>(0x0101010101010101u * static_cast<unsigned char>(byte));
    for (; bytes >= sizeof(Vector); bytes -= sizeof(Vector), out += sizeof(Vector)) {
        *reinterpret_cast<Vector*>(out) = vector;
        as_written();
    }
    for (; bytes > 0; --bytes, ++out) {
        *out = byte;
        as_written();
    }
    return to;
}

OURS(int, memcmp, void const* left, void const* right, std::size_t bytes) {
    auto const* l = static_cast<unsigned char const*>(left);
    auto const* r = static_cast<unsigned char const*>(right);
    for (; bytes > 0; --bytes, ++l, ++r) {
        if (*l != *r) return *l - *r;
        as_written();
    }
    return 0;
}

OURS(void*, memchr, void const* bytes, int wanted, std::size_t count) {
    auto* byte = static_cast<unsigned char*>(const_cast<void*>(bytes));
    for (; count > 0; --count, ++byte) {
        if (*byte == static_cast<unsigned char>(wanted)) return byte;
        as_written();
    }
    return nullptr;
}

OURS(std::size_t, strlen, char const* text) {
    std::size_t length = 0;
    for (; text[length] != '\0'; ++length) as_written();
    return length;
}
