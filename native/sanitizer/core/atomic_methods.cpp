#include "sanitizer/core/atomic_methods.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <string_view>

#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/modules.hpp"
#include "sanitizer/system/syscalls.hpp"

namespace fencepost {

AtomicMethods atomic_methods;

namespace {

using scheduler::kernel::call;
using scheduler::kernel::failed;

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

// The file of the program, mapped as long as this lives.
class ProgramFile {
  public:
    ProgramFile() {
        long const file = call(SYS_openat, AT_FDCWD, "/proc/self/exe", O_RDONLY | O_CLOEXEC);
        if (failed(file)) return;
        long const end = call(SYS_lseek, file, 0, SEEK_END);
        if (end > static_cast<long>(sizeof(ElfW(Ehdr)))) {
            size_ = static_cast<std::size_t>(end);
            begin_ = static_cast<char const*>(scheduler::kernel::map(size_, PROT_READ, MAP_PRIVATE, file));
        }
        call(SYS_close, file);
    }
    ProgramFile(ProgramFile const&) = delete;
    ProgramFile& operator=(ProgramFile const&) = delete;
    ~ProgramFile() {
        if (begin_ != nullptr) call(SYS_munmap, begin_, size_);
    }

    // `count` objects at this offset; null if the file has no such part.
    template <class T>
    T const* part(std::uint64_t offset, std::size_t count = 1) const {
        bool const inside = begin_ != nullptr && offset <= size_ && count <= (size_ - offset) / sizeof(T);
        return inside ? reinterpret_cast<T const*>(begin_ + offset) : nullptr;
    }

  private:
    char const* begin_ = nullptr;
    std::size_t size_ = 0;
};

// Calls action(symbol) for each function of <atomic> in a table of symbols.
template <class Action>
void for_methods(ProgramFile const& file, ElfW(Shdr) const& table, ElfW(Shdr) const& names, Action action) {
    std::size_t const count = table.sh_size / sizeof(ElfW(Sym));
    auto const* const symbols = file.part<ElfW(Sym)>(table.sh_offset, count);
    auto const* const text = file.part<char>(names.sh_offset, names.sh_size);
    if (symbols == nullptr || text == nullptr || names.sh_size == 0 || text[names.sh_size - 1] != '\0')
        return;
    for (std::size_t i = 0; i < count; ++i) {
        ElfW(Sym) const& symbol = symbols[i];
        bool const is_function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_size != 0;
        if (is_function && symbol.st_name < names.sh_size && is_atomic_method(text + symbol.st_name))
            action(symbol);
    }
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

void add_table(ProgramFile const& file, ElfW(Shdr) const& table, ElfW(Shdr) const& names) {
    std::size_t count = 0;
    for_methods(file, table, names, [&](ElfW(Sym) const&) { ++count; });
    if (count == 0) return;
    auto const here = reinterpret_cast<std::uintptr_t>(&find_atomic_methods);
    std::uintptr_t const loaded_at = here - find_module(here).offset;
    auto* const code = memory::allocate_array<AtomicMethods::Code>(count);
    std::size_t filled = 0;
    for_methods(file, table, names, [&](ElfW(Sym) const& symbol) {
        std::uintptr_t const begin = loaded_at + symbol.st_value;
        code[filled++] = {begin, begin + symbol.st_size};
    });
    sort(code, count);
    atomic_methods = {code, count};
}

}  // namespace

// A return address is behind a call, so it is never the beginning.
bool AtomicMethods::has(std::uintptr_t place) const {
    std::size_t low = 0, high = count;
    while (low < high) {
        std::size_t const middle = (low + high) / 2;
        if (code[middle].begin < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && place <= code[low - 1].end;
}

void find_atomic_methods() {
    ProgramFile const file;
    auto const* const head = file.part<ElfW(Ehdr)>(0);
    if (head == nullptr || head->e_shentsize != sizeof(ElfW(Shdr))) return;
    auto const* const sections = file.part<ElfW(Shdr)>(head->e_shoff, head->e_shnum);
    if (sections == nullptr) return;
    for (std::size_t i = 0; i < head->e_shnum; ++i) {
        if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= head->e_shnum) continue;
        return add_table(file, sections[i], sections[sections[i].sh_link]);
    }
}

}  // namespace fencepost
