// Names and lines of addresses, by llvm-symbolizer or addr2line where they are installed. One process answers
// all addresses of a report. Without them there are the names of the dynamic symbol table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fencepost {

struct Symbol {
    char const* function = nullptr;  // null: not known
    char const* line = nullptr;      // file:line
    char const* column = nullptr;    // in that line; null: not known
    bool inlined = false;            // into the next one
    Symbol* next = nullptr;          // the function that it is inlined into
};

// Asks for all of them at once: return addresses, and one address of data (0: none).
void look_up_symbols(std::uintptr_t const* places, std::size_t count, std::uintptr_t data);

// What is known of a place. Never null; lives for ever.
Symbol const* symbol_at(std::uintptr_t place);

// Of those at a place, the one that a reader looks for: the innermost that does not come from a header of the
// compiler, such as <atomic>; the innermost if all do.
Symbol const& of_the_program(Symbol const&);

// Are both return addresses copies of the same source, made by inlining? Lines of the compiler's headers do
// not count, because all atomics come from the same lines there. Looks up symbols.
bool come_from_same_source(std::uintptr_t, std::uintptr_t);

// The name of the global at the address; null if it is not known.
char const* name_of_global(std::uintptr_t address);

}  // namespace fencepost
