#include "sanitizer/core/atomic_methods.hpp"

#include <string_view>

#include "sanitizer/core/ordinary.hpp"
#include "sanitizer/system/elf_file.hpp"
#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/modules.hpp"

namespace fencepost {

AtomicMethods atomic_methods;

namespace {

bool skip(std::string_view& name, std::string_view prefix) {
    bool const there = name.starts_with(prefix);
    if (there) name.remove_prefix(prefix.size());
    return there;
}

// A mangled name in namespace std (libc++: std::__1) that begins with the word: _ZNKSt6atomicI…,
// _ZSt20atomic_load_explicit….
bool is_atomic_method(std::string_view name) {
    if (!skip(name, "_Z")) return false;
    if (skip(name, "N"))
        while (skip(name, "V") || skip(name, "K")) {
        }
    if (!skip(name, "St")) return false;
    skip(name, "3__1");
    while (!name.empty() && name[0] >= '0' && name[0] <= '9') name.remove_prefix(1);
    return name.starts_with("atomic") || name.starts_with("__atomic_") || name.starts_with("__cxx_atomic_");
}

// Shell's, because there may be thousands, and what the C and C++ libraries have may allocate or be merged
// with the program's.
void sort(AtomicMethods::Code* code, std::size_t count) {
    for (std::size_t gap = count / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11) {
        for (std::size_t i = gap; i < count; ++i) {
            AtomicMethods::Code const moved = code[i];
            std::size_t to = i;
            for (; to >= gap && code[to - gap].begin > moved.begin; to -= gap) code[to] = code[to - gap];
            code[to] = moved;
        }
    }
}

// Calls action(symbol) for each function of <atomic> in the program.
template <class Action>
void for_methods(ElfImage const& program, Action action) {
    program.for_symbols(SHT_SYMTAB, [&](ElfW(Sym) const& symbol, char const* name) {
        bool const is_function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_size != 0;
        if (is_function && is_atomic_method(name)) action(symbol);
    });
}

}  // namespace

// A return address is behind a call, so it is never the beginning.
bool AtomicMethods::has(std::uintptr_t pc) const {
    std::size_t low = 0, high = count;
    while (low < high) {
        std::size_t const middle = (low + high) / 2;
        if (code[middle].begin < pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && pc <= code[low - 1].end;
}

void find_atomic_methods() {
    ElfFile const file("/proc/self/exe");
    ElfImage const program = embedded_image_runs ? embedded_image(file.image()) : file.image();
    std::size_t count = 0;
    for_methods(program, [&](ElfW(Sym) const&) { ++count; });
    if (count == 0) return;
    auto const here = reinterpret_cast<std::uintptr_t>(&find_atomic_methods);
    std::uintptr_t const loaded_at = here - find_module(here).offset;
    auto* const code = memory::allocate_array<AtomicMethods::Code>(count);
    std::size_t filled = 0;
    for_methods(program, [&](ElfW(Sym) const& symbol) {
        std::uintptr_t const begin = loaded_at + symbol.st_value;
        code[filled++] = {begin, begin + symbol.st_size};
    });
    sort(code, count);
    atomic_methods = {code, count};
    run_is_ordinary = false;
}

}  // namespace fencepost
