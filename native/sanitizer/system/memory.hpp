// Memory of the library's own, straight from the system. The program's malloc cannot serve: it may be
// instrumented itself, and a hook may run inside it.
//
// Blocks come in powers of two, each size with a list of free ones. Blocks larger than a chunk are mapped and
// unmapped singly.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fencepost::memory {

// Zeroed pages, which cost nothing before they are touched. Ends the process if there are none.
void* pages(std::size_t bytes);
// Zeroed, for good, and at a multiple of 128 if it has as many bytes or more.
void* for_good(std::size_t bytes);
void give_back(void* pages, std::size_t bytes);

// Zeroed, for good, and in one page of the processor's larger size if the system has one: where much is used,
// such pages are made and found sooner.
inline constexpr std::size_t large_page = std::size_t{2} << 20;
void* page_for_good();

// A block of at least `bytes`, not zeroed. It goes back with the same number of bytes.
void* allocate(std::size_t bytes);
void release(void* block, std::size_t bytes);

// How much of a block asked for with `bytes` may be used.
std::size_t usable(std::size_t bytes);

template <class T>
T* allocate_array(std::size_t count) {
    return static_cast<T*>(allocate(count * sizeof(T)));
}
template <class T>
void release_array(T* array, std::size_t count) {
    if (array != nullptr) release(array, count * sizeof(T));
}

}  // namespace fencepost::memory
