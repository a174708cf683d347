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
// As soon as there was one, the next is made before it is needed, by a thread that holds no lock: others
// would wait while the system clears it.
void prepare_page();

// A block of at least `bytes`, not zeroed. It goes back with the same number of bytes.
void* allocate(std::size_t bytes);
void release(void* block, std::size_t bytes);

// Several blocks at once, each with the next one in its first word, the last with null; for those who keep
// some to themselves. Not larger than a few lines.
void* allocate_chain(std::size_t bytes, std::size_t count);
void release_chain(void* chain, std::size_t bytes);

// How much of a block asked for with `bytes` may be used.
std::size_t usable(std::size_t bytes);

// Zeroed pages that a process shares with the processes that it forks. Null if there are none.
void* shared_pages(std::size_t bytes);

// Where blocks come from, and which are free.
struct Pool {
    void* free_blocks[48];
    char* fresh;
    std::size_t fresh_bytes;
    std::size_t chunks;
};
// Of memory that a process shares with the processes that it forks. Only one of them may use it at a time.
Pool* make_shared_pool();
// Blocks come from that pool and go back to it while this lives. No other thread may run.
class InPool {
  public:
    explicit InPool(Pool*);
    ~InPool();
    InPool(InPool const&) = delete;
    InPool& operator=(InPool const&) = delete;

  private:
    Pool* outer_;
};

template <class T>
T* allocate_array(std::size_t count) {
    return static_cast<T*>(allocate(count * sizeof(T)));
}
template <class T>
void release_array(T* array, std::size_t count) {
    if (array != nullptr) release(array, count * sizeof(T));
}

}  // namespace fencepost::memory
