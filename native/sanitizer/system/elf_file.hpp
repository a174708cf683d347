// The symbol tables of a program or shared object on disk, read without the C library.
#pragma once

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "sanitizer/system/syscalls.hpp"

namespace fencepost {

// Mapped as long as this lives. A file that cannot be read, or is damaged, has no symbols.
class ElfFile {
  public:
    explicit ElfFile(char const* path) {
        long const file = kernel::call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
        if (kernel::failed(file)) return;
        long const end = kernel::call(SYS_lseek, file, 0, SEEK_END);
        if (end > static_cast<long>(sizeof(ElfW(Ehdr)))) {
            size_ = static_cast<std::size_t>(end);
            begin_ = static_cast<char const*>(kernel::map(size_, PROT_READ, MAP_PRIVATE, file));
        }
        kernel::call(SYS_close, file);
    }
    ElfFile(ElfFile const&) = delete;
    ElfFile& operator=(ElfFile const&) = delete;
    ~ElfFile() {
        if (begin_ != nullptr) kernel::call(SYS_munmap, begin_, size_);
    }

    // Calls action(symbol, name) for each symbol of the tables of this kind, SHT_SYMTAB or SHT_DYNSYM.
    template <class Action>
    void for_symbols(std::uint32_t kind, Action action) const {
        auto const* const head = part<ElfW(Ehdr)>(0);
        if (head == nullptr || head->e_shentsize != sizeof(ElfW(Shdr))) return;
        auto const* const sections = part<ElfW(Shdr)>(head->e_shoff, head->e_shnum);
        if (sections == nullptr) return;
        for (std::size_t i = 0; i < head->e_shnum; ++i)
            if (sections[i].sh_type == kind && sections[i].sh_link < head->e_shnum)
                for_table(sections[i], sections[sections[i].sh_link], action);
    }

  private:
    template <class Action>
    void for_table(ElfW(Shdr) const& table, ElfW(Shdr) const& names, Action action) const {
        std::size_t const count = table.sh_size / sizeof(ElfW(Sym));
        auto const* const symbols = part<ElfW(Sym)>(table.sh_offset, count);
        auto const* const text = part<char>(names.sh_offset, names.sh_size);
        if (symbols == nullptr || text == nullptr || names.sh_size == 0 || text[names.sh_size - 1] != '\0')
            return;
        for (std::size_t i = 0; i < count; ++i)
            if (symbols[i].st_name < names.sh_size) action(symbols[i], text + symbols[i].st_name);
    }

    // `count` objects at this offset; null if the file has no such part.
    template <class T>
    T const* part(std::uint64_t offset, std::size_t count = 1) const {
        bool const inside = begin_ != nullptr && offset <= size_ && count <= (size_ - offset) / sizeof(T);
        return inside ? reinterpret_cast<T const*>(begin_ + offset) : nullptr;
    }

    char const* begin_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace fencepost
