// The functions on bytes and strings that compilers and C++ headers call most, in mode full: the accesses are
// noted, then made.
//
// The library itself needs some of them, and those must not be noted. So here they have other names; when the
// library is put together, its own (races/bytes.cpp) get names of their own first, and then these get theirs
// (native/sanitizer/CMakeLists.txt).
#include "sanitizer/hooks/watched_bytes.hpp"

#include <cstddef>
#include <cstdint>

using namespace fencepost;

#define FRAME __builtin_frame_address(0)
#define FOR_THE_PROGRAM(result, name, ...)                                                               \
    extern "C" [[gnu::weak, gnu::visibility("default"), gnu::noinline]] result fencepost_watched_##name( \
        __VA_ARGS__)

namespace {

std::size_t length_up_to(char const* text, std::size_t most) {
    std::size_t length = 0;
    while (length < most && text[length] != '\0') ++length;
    return length;
}

// Both texts are read up to where they differ.
int compare_up_to(char const* left, char const* right, std::size_t most, void const* frame) {
    std::size_t i = 0;
    while (i + 1 < most && left[i] == right[i] && left[i] != '\0') ++i;
    if (most == 0) return 0;
    note_bytes_read(left, i + 1, frame);
    note_bytes_read(right, i + 1, frame);
    return static_cast<unsigned char>(left[i]) - static_cast<unsigned char>(right[i]);
}

}  // namespace

FOR_THE_PROGRAM(void*, memcpy, void* to, void const* from, std::size_t bytes) {
    note_bytes_read(from, bytes, FRAME);
    note_bytes_written(to, bytes, FRAME);
    return __builtin_memcpy(to, from, bytes);
}

FOR_THE_PROGRAM(void*, memmove, void* to, void const* from, std::size_t bytes) {
    note_bytes_read(from, bytes, FRAME);
    note_bytes_written(to, bytes, FRAME);
    return __builtin_memmove(to, from, bytes);
}

FOR_THE_PROGRAM(void*, memset, void* to, int value, std::size_t bytes) {
    note_bytes_written(to, bytes, FRAME);
    return __builtin_memset(to, value, bytes);
}

FOR_THE_PROGRAM(int, memcmp, void const* left, void const* right, std::size_t bytes) {
    note_bytes_read(left, bytes, FRAME);
    note_bytes_read(right, bytes, FRAME);
    return __builtin_memcmp(left, right, bytes);
}

FOR_THE_PROGRAM(void*, memchr, void const* begin, int wanted, std::size_t bytes) {
    auto* const found = static_cast<char*>(__builtin_memchr(begin, wanted, bytes));
    auto const* const first = static_cast<char const*>(begin);
    note_bytes_read(begin, found == nullptr ? bytes : static_cast<std::size_t>(found - first) + 1, FRAME);
    return found;
}

FOR_THE_PROGRAM(std::size_t, strlen, char const* text) {
    std::size_t const length = __builtin_strlen(text);
    note_bytes_read(text, length + 1, FRAME);
    return length;
}

FOR_THE_PROGRAM(int, strcmp, char const* left, char const* right) {
    return compare_up_to(left, right, SIZE_MAX, FRAME);
}

FOR_THE_PROGRAM(int, strncmp, char const* left, char const* right, std::size_t most) {
    return compare_up_to(left, right, most, FRAME);
}

FOR_THE_PROGRAM(char*, strcpy, char* to, char const* from) {
    std::size_t const bytes = __builtin_strlen(from) + 1;
    note_bytes_read(from, bytes, FRAME);
    note_bytes_written(to, bytes, FRAME);
    __builtin_memcpy(to, from, bytes);
    return to;
}

FOR_THE_PROGRAM(char*, strncpy, char* to, char const* from, std::size_t bytes) {
    std::size_t const length = length_up_to(from, bytes);
    note_bytes_read(from, length < bytes ? length + 1 : bytes, FRAME);
    note_bytes_written(to, bytes, FRAME);
    __builtin_memcpy(to, from, length);
    __builtin_memset(to + length, 0, bytes - length);
    return to;
}

FOR_THE_PROGRAM(char*, strcat, char* to, char const* from) {
    std::size_t const before = __builtin_strlen(to), bytes = __builtin_strlen(from) + 1;
    note_bytes_read(to, before + 1, FRAME);
    note_bytes_read(from, bytes, FRAME);
    note_bytes_written(to + before, bytes, FRAME);
    __builtin_memcpy(to + before, from, bytes);
    return to;
}

FOR_THE_PROGRAM(char*, strchr, char const* text, int wanted) {
    std::size_t i = 0;
    while (text[i] != static_cast<char>(wanted) && text[i] != '\0') ++i;
    note_bytes_read(text, i + 1, FRAME);
    return text[i] == static_cast<char>(wanted) ? const_cast<char*>(text + i) : nullptr;
}
