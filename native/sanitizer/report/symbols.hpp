// Names and lines of code, by llvm-symbolizer or addr2line where they are installed. One process answers all
// addresses of a report. Without them there are the names of the dynamic symbol table. Names of data come
// from the symbol table of their module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fencepost {

struct Symbol {
    char const* function = nullptr;  // null: not known
    char const* line = nullptr;      // file:line
    char const* column = nullptr;    // in that line; null: not known
    std::size_t size = 0;            // of a variable
    Symbol* next = nullptr;          // the function that it is inlined into
};

// Asks for all of these return addresses at once.
void look_up_symbols(std::uintptr_t const* pcs, std::size_t count);

// What is known of a return address. Never null; lives for ever.
Symbol const* symbol_at(std::uintptr_t pc);

// The symbol that a reader looks for, of those at one return address: the innermost that is not in a header
// of the compiler, such as <atomic>; the innermost if all do.
Symbol const& of_the_program(Symbol const&);

// If that one is in a header, and so perhaps in a wrapper around atomics: the nearest that it is inlined into
// in another file. Null if there is none. The same as `caller_of_wrapper` in verdicts/run.py.
Symbol const* caller_of_wrapper(Symbol const&);

// The frames of a stack that a reader looks for, innermost first: without those of this library, and without
// what starts a thread or the program, such as the inner parts of std::thread. The same as `_trimmed` in
// answer/findings.py.
struct Frames {
    static constexpr std::size_t most = 256;
    std::size_t count = 0;
    struct Frame {
        Symbol const* symbol;
        std::uintptr_t pc;
    } list[most];
};
Frames frames_of(std::uintptr_t const* pcs, std::size_t count);

// Is this line in a header of the compiler?
bool comes_with_the_compiler(std::string_view line);

// Do both belong to the same line and column of the program?
bool at_same_position(std::uintptr_t, std::uintptr_t);

// Are both return addresses copies of the same source, made by inlining? Lines of the compiler's headers do
// not count, because all atomics come from the same lines there. Looks up symbols.
bool come_from_same_source(std::uintptr_t, std::uintptr_t);

// The global at the address; its name is followed by the distance from its beginning, null if it is not
// known.
Symbol const& global_at(std::uintptr_t address);
inline char const* name_of_global(std::uintptr_t address) {
    return global_at(address).function;
}

}  // namespace fencepost
