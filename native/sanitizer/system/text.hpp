// Text that is put together without the C library, which may be what the program has interposed, and written
// to a file descriptor at once, so that lines of several threads do not mix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fencepost {

class Text {
  public:
    Text() = default;
    ~Text();
    Text(Text const&) = delete;
    Text& operator=(Text const&) = delete;

    Text& operator<<(std::string_view);
    Text& operator<<(char const* s) { return *this << std::string_view(s); }
    Text& operator<<(std::uint64_t);
    Text& operator<<(std::uint32_t n) { return *this << std::uint64_t{n}; }
    Text& operator<<(std::int32_t);

    std::string_view view() const { return {data_, size_}; }
    void clear() { size_ = 0; }
    bool write_to(int descriptor) const;  // false if not all of it could be

  private:
    void reserve(std::size_t bytes);

    char* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

// Formats for what a Text is given.
struct Hex {
    std::uint64_t number;
};
struct Quoted {  // as a JSON string
    std::string_view text;
};
Text& operator<<(Text&, Hex);
Text& operator<<(Text&, Quoted);

bool write_all(int descriptor, std::string_view);
[[noreturn]] void stop_with(std::string_view message);

// Adds what the file holds. False if it cannot be read.
bool read_file(char const* path, Text& into);

// A copy that ends with a zero and is never freed.
char const* keep(std::string_view);

bool parse_number(std::string_view, std::uint64_t& into);

}  // namespace fencepost
