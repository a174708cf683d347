// A program or shared object on disk, read without the C library: its symbol tables, its headers, and
// sections by name.
#pragma once

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "sanitizer/system/syscalls.hpp"

namespace fencepost {

// In memory. One that is damaged has no symbols, and no sections.
class ElfImage {
  public:
    ElfImage() = default;
    ElfImage(char const* begin, std::size_t size) : begin_(begin), size_(size) {}

    char const* begin() const { return begin_; }
    std::size_t size() const { return size_; }
    // Null if it is none of this machine's size.
    ElfW(Ehdr) const* header() const {
        auto const* const head = part<ElfW(Ehdr)>(0);
        bool const known = head != nullptr && std::string_view(begin_, SELFMAG) == ELFMAG &&
                           head->e_shentsize == sizeof(ElfW(Shdr));
        return known ? head : nullptr;
    }

    std::span<ElfW(Phdr) const> segments() const {
        auto const* const head = header();
        if (head == nullptr || head->e_phentsize != sizeof(ElfW(Phdr))) return {};
        return parts<ElfW(Phdr)>(head->e_phoff, head->e_phnum);
    }

    // What a section holds; empty if there is no section of this name.
    std::string_view section(std::string_view name) const {
        auto const* const head = header();
        auto const all = sections();
        if (head == nullptr || head->e_shstrndx >= all.size()) return {};
        auto const& names = all[head->e_shstrndx];
        for (auto const& one : all) {
            auto const* const text = part<char>(names.sh_offset + one.sh_name, name.size() + 1);
            if (text == nullptr || std::string_view(text, name.size()) != name || text[name.size()] != '\0')
                continue;
            auto const* const bytes = part<char>(one.sh_offset, one.sh_size);
            return bytes == nullptr ? std::string_view() : std::string_view(bytes, one.sh_size);
        }
        return {};
    }

    // Calls action(symbol, name) for each symbol of the tables of this kind, SHT_SYMTAB or SHT_DYNSYM.
    template <class Action>
    void for_symbols(std::uint32_t kind, Action action) const {
        auto const all = sections();
        for (auto const& one : all)
            if (one.sh_type == kind && one.sh_link < all.size()) for_table(one, all[one.sh_link], action);
    }

    // `count` objects at this offset; null if there is no such part.
    template <class T>
    T const* part(std::uint64_t offset, std::size_t count = 1) const {
        bool const inside = begin_ != nullptr && offset <= size_ && count <= (size_ - offset) / sizeof(T);
        return inside ? reinterpret_cast<T const*>(begin_ + offset) : nullptr;
    }

  private:
    template <class T>
    std::span<T const> parts(std::uint64_t offset, std::size_t count) const {
        auto const* const first = part<T>(offset, count);
        return {first, first == nullptr ? 0 : count};
    }

    std::span<ElfW(Shdr) const> sections() const {
        auto const* const head = header();
        return head == nullptr ? std::span<ElfW(Shdr) const>()
                               : parts<ElfW(Shdr)>(head->e_shoff, head->e_shnum);
    }

    template <class Action>
    void for_table(ElfW(Shdr) const& table, ElfW(Shdr) const& names, Action action) const {
        auto const* const text = part<char>(names.sh_offset, names.sh_size);
        if (text == nullptr || names.sh_size == 0 || text[names.sh_size - 1] != '\0') return;
        for (auto const& symbol : parts<ElfW(Sym)>(table.sh_offset, table.sh_size / sizeof(ElfW(Sym))))
            if (symbol.st_name < names.sh_size) action(symbol, text + symbol.st_name);
    }

    char const* begin_ = nullptr;
    std::size_t size_ = 0;
};

// Mapped as long as this lives. A file that cannot be read is an empty image.
class ElfFile {
  public:
    explicit ElfFile(char const* path)
        : descriptor_(kernel::call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC)) {
        if (kernel::failed(descriptor_)) return;
        long const end = kernel::call(SYS_lseek, descriptor_, 0, SEEK_END);
        if (end <= static_cast<long>(sizeof(ElfW(Ehdr)))) return;
        auto const size = static_cast<std::size_t>(end);
        auto const* const begin =
            static_cast<char const*>(kernel::map(size, PROT_READ, MAP_PRIVATE, descriptor_));
        if (begin != nullptr) image_ = {begin, size};
    }
    ElfFile(ElfFile const&) = delete;
    ElfFile& operator=(ElfFile const&) = delete;
    ~ElfFile() {
        if (image_.begin() != nullptr) kernel::call(SYS_munmap, image_.begin(), image_.size());
        if (!kernel::failed(descriptor_)) kernel::call(SYS_close, descriptor_);
    }

    ElfImage const& image() const { return image_; }
    long descriptor() const { return descriptor_; }

  private:
    long descriptor_;
    ElfImage image_;
};

}  // namespace fencepost
