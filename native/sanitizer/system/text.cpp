#include "sanitizer/system/text.hpp"

#include <fcntl.h>

#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/syscalls.hpp"

namespace fencepost {

Text::~Text() {
    if (data_ != nullptr) memory::release(data_, capacity_);
}

void Text::reserve(std::size_t bytes) {
    if (size_ + bytes <= capacity_) return;
    std::size_t const wanted = size_ + bytes;
    std::size_t const larger = memory::usable(wanted < 2 * capacity_ ? 2 * capacity_ : wanted);
    char* const moved = static_cast<char*>(memory::allocate(larger));
    if (data_ != nullptr) {
        __builtin_memcpy(moved, data_, size_);
        memory::release(data_, capacity_);
    }
    data_ = moved;
    capacity_ = larger;
}

Text& Text::operator<<(std::string_view s) {
    if (s.empty()) return *this;
    reserve(s.size());
    __builtin_memcpy(data_ + size_, s.data(), s.size());
    size_ += s.size();
    return *this;
}

Text& Text::operator<<(std::uint64_t number) {
    char digits[20];
    std::size_t begin = sizeof digits;
    do {
        digits[--begin] = static_cast<char>('0' + number % 10);
        number /= 10;
    } while (number != 0);
    return *this << std::string_view(digits + begin, sizeof digits - begin);
}

Text& Text::operator<<(std::int32_t number) {
    if (number < 0) *this << "-";
    auto const wide = static_cast<std::int64_t>(number);
    return *this << static_cast<std::uint64_t>(wide < 0 ? -wide : wide);
}

Text& operator<<(Text& text, Hex hex) {
    char digits[16];
    std::size_t begin = sizeof digits;
    do {
        digits[--begin] = "0123456789abcdef"[hex.number % 16];
        hex.number /= 16;
    } while (hex.number != 0);
    return text << "0x" << std::string_view(digits + begin, sizeof digits - begin);
}

Text& operator<<(Text& text, Quoted quoted) {
    text << "\"";
    for (std::size_t i = 0; i < quoted.text.size(); ++i) {
        auto const c = static_cast<unsigned char>(quoted.text[i]);
        char const escaped[] = {'\\', 'u', '0', '0', "0123456789abcdef"[c / 16], "0123456789abcdef"[c % 16]};
        if (c == '"' || c == '\\')
            text << "\\" << std::string_view(quoted.text.data() + i, 1);
        else if (c < 0x20 || c == 0x7f)
            text << std::string_view(escaped, sizeof escaped);
        else
            text << std::string_view(quoted.text.data() + i, 1);
    }
    return text << "\"";
}

bool Text::write_to(int descriptor) const {
    return write_all(descriptor, view());
}

bool write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        long const written = kernel::call(SYS_write, descriptor, text.data(), text.size());
        if (written == -4) continue;  // EINTR
        if (written <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

bool read_file(char const* path, Text& into) {
    long const file = kernel::call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (file < 0) return false;
    char buffer[4096];
    long bytes;
    while ((bytes = kernel::call(SYS_read, file, buffer, sizeof buffer)) > 0)
        into << std::string_view(buffer, static_cast<std::size_t>(bytes));
    kernel::call(SYS_close, file);
    return bytes == 0;
}

void stop_with(std::string_view message) {
    write_all(2, message);
    for (;;) kernel::call(SYS_exit_group, 1);
}

char const* keep(std::string_view text) {
    char* const copy = static_cast<char*>(memory::allocate(text.size() + 1));
    if (!text.empty()) __builtin_memcpy(copy, text.data(), text.size());
    copy[text.size()] = '\0';
    return copy;
}

bool parse_number(std::string_view text, std::uint64_t& into) {
    std::uint64_t number = 0;
    for (char const c : text) {
        if (c < '0' || c > '9') return false;
        number = 10 * number + static_cast<std::uint64_t>(c - '0');
    }
    if (!text.empty()) into = number;
    return !text.empty();
}

}  // namespace fencepost
