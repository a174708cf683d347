// Functions of <atomic> that the compiler has not inlined. All operations of a type go through one of them
// then and return to the same address in it, so that the place which tells one access from another is where
// that function returns to. They are known from the symbol table of the program: in one without, and in
// shared objects, the place is in the function.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fencepost {

struct AtomicMethods {
    struct Code {
        std::uintptr_t begin, end;
    };
    Code* code;  // sorted
    std::size_t count;

    bool has(std::uintptr_t pc) const;
};
extern AtomicMethods atomic_methods;
void find_atomic_methods();

// Where the operation stands that was called from this frame's function. `frame` is a frame address: what
// it points to are the caller's frame and the return address. The functions of <atomic> have such frames,
// because they are the program's.
inline std::uintptr_t pc_of(void const* frame, bool ordinary = false) {
    auto const* saved = static_cast<std::uintptr_t const*>(frame);
    if (ordinary || atomic_methods.count == 0) [[likely]]
        return saved[1];
    while (atomic_methods.has(saved[1])) saved = reinterpret_cast<std::uintptr_t const*>(saved[0]);
    return saved[1];
}

}  // namespace fencepost
