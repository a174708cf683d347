#include "sanitizer/schedule/decisions.hpp"

#include <fcntl.h>

#include <cstddef>
#include <cstring>
#include <string_view>

#include "sanitizer/schedule/restart.hpp"
#include "sanitizer/system/syscalls.hpp"
#include "sanitizer/system/text.hpp"

namespace fencepost::scheduler::decisions {
namespace {

constexpr std::size_t window_bytes = 1 << 20;
constexpr std::string_view title = "fencepost decisions 1\nseed ";

struct Writer {
    int file = -1;
    char* window = nullptr;
    std::size_t used = 0;       // of the window
    std::uint64_t start = 0;    // of the window in the file
    std::int64_t threads = -1;  // made before; -1: none were to be
} writer;

struct Reader {
    char const* path = nullptr;
    char const* at = nullptr;
    char const* end = nullptr;
    std::uint64_t line = 1;
    std::string_view choices;  // that are left
    bool has_choices = false;
    std::uint64_t failing = 0, threads = 0;
    bool has_threads = false;
} reader;

[[noreturn]] void give_up(char const* path, std::uint64_t line, std::string_view why) {
    Text message;
    message << "fencepost: " << path;
    if (line != 0) message << ":" << line;
    message << ": " << why << "\n";
    stop_with(message.view());
}

// Null if the disk is full: the run is worth more than its record.
void map_window() {
    writer.window = nullptr;
    if (kernel::failed(kernel::call(SYS_ftruncate, writer.file, writer.start + window_bytes))) return;
    writer.window = static_cast<char*>(
        kernel::map(window_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, writer.file, writer.start));
}

void put_byte(char byte) {
    if (writer.window == nullptr) return;
    writer.window[writer.used++] = byte;
    if (writer.used < window_bytes) return;
    restart::OwnCalls const own;
    kernel::call(SYS_munmap, writer.window, window_bytes);
    writer.start += window_bytes;
    writer.used = 0;
    map_window();
}

void put_text(std::string_view text) {
    for (char c : text) put_byte(c);
}

void put_number(std::uint64_t number) {
    char digits[20];
    char* first = digits + sizeof digits;
    do *--first = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    put_text({first, digits + sizeof digits});
}

// A number and the one character after it; false where the file ends, be it within a number.
bool read_number(std::uint64_t& number, char after) {
    number = 0;
    char const* const first = reader.at;
    while (reader.at < reader.end && *reader.at >= '0' && *reader.at <= '9') {
        number = number * 10 + static_cast<std::uint64_t>(*reader.at++ - '0');
    }
    if (reader.at == reader.end || *reader.at == '\0') return false;
    if (reader.at == first || *reader.at != after) {
        give_up(reader.path, reader.line, "expected a thread number, a space and a number of steps");
    }
    ++reader.at;
    return true;
}

bool skip(std::string_view word) {
    if (!std::string_view(reader.at, static_cast<std::size_t>(reader.end - reader.at)).starts_with(word))
        return false;
    reader.at += word.size();
    ++reader.line;
    return true;
}

void read_choices() {
    if (skip("failing ") && !read_number(reader.failing, '\n')) return;
    reader.has_threads = skip("threads ");
    if (reader.has_threads && !read_number(reader.threads, '\n')) return;
    reader.has_choices = skip("choices");
    if (!reader.has_choices) return;
    char const* const first = reader.at;
    while (reader.at < reader.end && *reader.at != '\n') ++reader.at;
    reader.choices = {first, static_cast<std::size_t>(reader.at - first)};
    if (reader.at < reader.end) ++reader.at;
    constexpr std::string_view known = " 0123456789";
    if (reader.choices.find_first_not_of(known) != std::string_view::npos)
        give_up(reader.path, reader.line - 1, "expected the numbers of choices");
}

}  // namespace

void open_to_write(char const* path, std::uint64_t seed, std::uint32_t first_thread) {
    long const file = kernel::call(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (kernel::failed(file)) give_up(path, 0, "cannot write the file of decisions");
    writer.file = static_cast<int>(file);
    map_window();
    if (writer.window == nullptr) give_up(path, 0, "cannot write the file of decisions");
    put_text(title);
    put_number(seed);
    put_text("\n");
    if (writer.threads >= 0) {
        put_text("threads ");
        put_number(static_cast<std::uint64_t>(writer.threads));
        put_text("\n");
    }
    put_number(first_thread);
    put_text(" ");
}

bool writing() {
    return writer.window != nullptr;
}

void write_switch(std::uint64_t steps, std::uint32_t to_thread) {
    put_number(steps);
    put_byte('\n');
    put_number(to_thread);
    put_byte(' ');
}

void close_written() {
    if (!writing()) return;
    restart::OwnCalls const own;
    kernel::call(SYS_ftruncate, writer.file, writer.start + writer.used);
    abandon();
}

void abandon() {
    if (!writing()) return;
    kernel::call(SYS_munmap, writer.window, window_bytes);
    kernel::call(SYS_close, writer.file);
    writer = Writer{.threads = writer.threads};
}

std::uint64_t open_to_read(char const* path) {
    reader.path = path;
    long const file = kernel::call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (kernel::failed(file)) give_up(path, 0, "cannot read the file of decisions");
    long const bytes = kernel::call(SYS_lseek, file, 0, SEEK_END);
    auto const size = bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
    void const* const text = kernel::map(size, PROT_READ, MAP_PRIVATE, file);
    kernel::call(SYS_close, file);
    if (size < title.size() || text == nullptr || std::memcmp(text, title.data(), title.size()) != 0) {
        give_up(path, 1, "expected `fencepost decisions 1`, as written by decisions=FILE");
    }
    reader.at = static_cast<char const*>(text);
    reader.end = reader.at + size;
    reader.at += title.size();
    reader.line = 2;
    std::uint64_t seed;
    if (!read_number(seed, '\n')) give_up(path, 2, "expected `seed` and a number");
    ++reader.line;
    read_choices();
    return seed;
}

bool of_exploration() {
    return reader.has_choices;
}

std::uint32_t failing_allocations() {
    return static_cast<std::uint32_t>(reader.failing);
}

bool were_threads_made_before() {
    return reader.has_threads;
}

void note_threads_made_before(std::uint32_t count) {
    writer.threads = count;
}

std::uint32_t threads_made_before() {
    return static_cast<std::uint32_t>(reader.threads);
}

std::uint32_t read_choice() {
    std::uint32_t way = 0;
    while (!reader.choices.empty() && reader.choices.front() == ' ') reader.choices.remove_prefix(1);
    while (!reader.choices.empty() && reader.choices.front() != ' ') {
        way = way * 10 + static_cast<std::uint32_t>(reader.choices.front() - '0');
        reader.choices.remove_prefix(1);
    }
    return way;
}

bool read(Run& run) {
    std::uint64_t thread;
    if (!read_number(thread, ' ')) return false;
    run.thread = static_cast<std::uint32_t>(thread);
    if (!read_number(run.steps, '\n')) run.steps = UINT64_MAX;
    ++reader.line;
    return true;
}

}  // namespace fencepost::scheduler::decisions
