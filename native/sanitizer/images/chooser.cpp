// Which of its two images a program runs, when it starts (linker.cpp has made it): under a schedule the
// embedded one, with our own race detector; else the one that has started, with ThreadSanitizer.
//
// The embedded image is not started by the kernel: a copy of it in another file would have another name,
// another directory to look for libraries from ($ORIGIN), and another /proc/self/exe. It is mapped from the
// program's own file, beside what is there already, together with a new dynamic linker. Then the stack is as
// the kernel had left it, but for four words that say where the image is, and the dynamic linker begins.
//
// This comes first of all in the program. ThreadSanitizer is not there yet, whose functions would be called
// in place of the C library's; so none of those is used.
#include <elf.h>
#include <fcntl.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "sanitizer/system/elf_file.hpp"
#include "sanitizer/system/fixed_addresses.hpp"
#include "sanitizer/system/modules.hpp"
#include "sanitizer/system/settings.hpp"
#include "sanitizer/system/syscalls.hpp"

extern "C" char const* __tsan_default_options();
extern "C" char const* __tsan_default_suppressions();

namespace fencepost {
namespace {

using kernel::call;
using kernel::failed;
using Segment = ElfW(Phdr);

bool schedule_is_asked_for(char** environment) {
    bool asked = false;
    for_settings(environment, [&](SettingText const& setting) {
        if (setting.name == "schedule")
            asked = setting.value == "random" || setting.value == "pct" || setting.value == "explore";
    });
    return asked;
}

std::uintptr_t page_size = 4096;

std::uintptr_t page_of(std::uintptr_t address) {
    return address & ~(page_size - 1);
}
std::uintptr_t pages_up_to(std::uintptr_t address) {
    return page_of(address + page_size - 1);
}

int protection_of(Segment const& segment) {
    return ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) |
           ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) | ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
}

bool map_at(std::uintptr_t begin, std::uintptr_t end, int protection, int flags, long file,
            std::uint64_t offset) {
    return begin == end ||
           !failed(call(SYS_mmap, begin, end - begin, protection, flags | MAP_PRIVATE, file, offset));
}

// An image in a file, and where it was loaded.
struct Image {
    ElfImage elf;
    long file;
    std::uint64_t offset;  // in the file
    std::uintptr_t moved_by = 0;

    std::uintptr_t entry() const { return moved_by + elf.header()->e_entry; }

    // Where its segments go, in a stretch that nobody uses. `wanted`: there, if possible.
    bool reserve(std::uintptr_t wanted) {
        std::uintptr_t low = UINTPTR_MAX, high = 0;
        for (Segment const& segment : elf.segments()) {
            if (segment.p_type != PT_LOAD) continue;
            std::uintptr_t const begin = page_of(segment.p_vaddr);
            std::uintptr_t const end = pages_up_to(segment.p_vaddr + segment.p_memsz);
            low = begin < low ? begin : low;
            high = end > high ? end : high;
        }
        if (low >= high) return false;
        bool const is_fixed = elf.header()->e_type == ET_EXEC;
        int const flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (is_fixed ? MAP_FIXED_NOREPLACE : 0);
        long const place = call(SYS_mmap, is_fixed ? low : wanted, high - low, PROT_NONE, flags, -1, 0);
        moved_by = static_cast<std::uintptr_t>(place) - low;
        return !failed(place) && (!is_fixed || moved_by == 0);
    }

    bool map(Segment const& segment) const {
        std::uintptr_t const begin = moved_by + segment.p_vaddr;
        std::uintptr_t const file_end = begin + segment.p_filesz;
        std::uintptr_t const first_page = page_of(begin), last_page = pages_up_to(begin + segment.p_memsz);
        std::uintptr_t const anonymous = segment.p_filesz == 0 ? first_page : pages_up_to(file_end);
        int const protection = protection_of(segment);
        if (!map_at(first_page, anonymous, protection, MAP_FIXED, file,
                    offset + segment.p_offset - (begin - first_page)) ||
            !map_at(anonymous, last_page, protection, MAP_FIXED | MAP_ANONYMOUS, -1, 0))
            return false;
        if (segment.p_memsz > segment.p_filesz && anonymous != first_page)
            for (std::uintptr_t byte = file_end; byte < anonymous; ++byte)
                *reinterpret_cast<char volatile*>(byte) = 0;
        return true;
    }

    bool load(std::uintptr_t wanted) {
        if (elf.header() == nullptr || !reserve(wanted)) return false;
        for (Segment const& segment : elf.segments())
            if (segment.p_type == PT_LOAD && !map(segment)) return false;
        return true;
    }

    // Where the program headers are in memory; 0 if they are not.
    std::uintptr_t headers() const {
        for (Segment const& segment : elf.segments())
            if (segment.p_type == PT_PHDR) return moved_by + segment.p_vaddr;
        return 0;
    }

    char const* dynamic_linker() const {
        for (Segment const& segment : elf.segments())
            if (segment.p_type == PT_INTERP) return elf.part<char>(segment.p_offset, segment.p_filesz);
        return nullptr;
    }
};

// The words behind the environment, by which the kernel tells a program where it is.
struct Told {
    ElfW(auxv_t) * first;

    explicit Told(char** environment) {
        while (*environment != nullptr) ++environment;
        first = reinterpret_cast<ElfW(auxv_t)*>(environment + 1);
    }
    ElfW(auxv_t) * find(std::uint64_t type) const {
        for (auto* entry = first; entry->a_type != AT_NULL; ++entry)
            if (entry->a_type == type) return entry;
        return nullptr;
    }
    void set(std::uint64_t type, std::uint64_t value) const {
        if (auto* const entry = find(type); entry != nullptr) entry->a_un.a_val = value;
    }
};

// With the stack as a program finds it that the kernel has started.
[[noreturn]] void begin(std::uintptr_t entry, void* stack) {
#if defined(__x86_64__)
    asm volatile("mov %0, %%rsp\n xor %%edx, %%edx\n xor %%ebp, %%ebp\n jmp *%1"
                 :
                 : "r"(stack), "r"(entry)
                 : "memory", "rdx");
#elif defined(__aarch64__)
    asm volatile("mov sp, %0\n mov x0, #0\n mov x29, #0\n mov x30, #0\n br %1"
                 :
                 : "r"(stack), "r"(entry)
                 : "memory", "x0");
#endif
    __builtin_unreachable();
}

// Far from all that the kernel places by itself, and from what the library maps (system/syscalls.hpp).
constexpr std::uintptr_t place_of_image = 0x3000'0000'0000;

struct Loaded {
    std::uintptr_t headers = 0, header_count = 0, entry = 0;  // of the image
    std::uintptr_t linker_base = 0, linker_entry = 0;         // of its dynamic linker
};

bool load_embedded_image(Loaded& loaded) {
    ElfFile const program("/proc/self/exe");
    ElfImage const embedded = embedded_image(program.image());
    if (embedded.header() == nullptr) return false;
    Image image{embedded, program.descriptor(),
                static_cast<std::uint64_t>(embedded.begin() - program.image().begin())};
    char const* const path = image.dynamic_linker();
    if (path == nullptr) return false;
    ElfFile const linker_file(path);
    Image linker{linker_file.image(), linker_file.descriptor(), 0};
    if (!image.load(place_of_image) || image.headers() == 0 || !linker.load(0)) return false;
    loaded = {image.headers(), embedded.header()->e_phnum, image.entry(), linker.moved_by, linker.entry()};
    return true;
}

// Settings that ThreadSanitizer is to have too. (hooks/race_reports.cpp has others.)
//
// In the child of a fork it takes the threads of the parent for threads that nobody has joined, and refuses
// new ones if there were several.
char thread_sanitizers_options[128] = "report_thread_leaks=0:die_after_fork=0";
std::string_view suppressions;  // a file

void hand_on(SettingText const& setting) {
    if (setting.name == "suppressions") suppressions = setting.value;
    if (setting.name != "exitcode" && setting.name != "halt_on_error") return;
    std::size_t end = std::string_view(thread_sanitizers_options).size();
    if (end + setting.name.size() + setting.value.size() + 3 > sizeof thread_sanitizers_options) return;
    for (std::string_view const part :
         {std::string_view(":"), setting.name, std::string_view("="), setting.value})
        for (char const c : part) thread_sanitizers_options[end++] = c;
}

// What ThreadSanitizer is told to leave out: the lines about what it finds, in its own words.
class SuppressionText {
  public:
    char const* of_file(std::string_view path) {
        if (path.size() >= sizeof name_) return "";
        char* end = name_;
        for (char const c : path) *end++ = c;
        long const file = call(SYS_openat, AT_FDCWD, name_, O_RDONLY | O_CLOEXEC, 0);
        if (failed(file)) return "";
        for (char c = 0; call(SYS_read, file, &c, 1) == 1;) take(c);
        call(SYS_close, file);
        take('\n');
        return text_;
    }

  private:
    static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
    void take(char c) {
        if (c != '\n') {
            bool const is_first = length_ == 0 && is_blank(c);
            if (!is_first && length_ < sizeof line_) line_[length_++] = c;
            return;
        }
        while (length_ != 0 && is_blank(line_[length_ - 1])) --length_;
        put_line({line_, length_});
        length_ = 0;
    }
    void put_line(std::string_view line) {
        constexpr std::string_view misuse = "threads:";
        if (line.starts_with("race:") || line.starts_with("deadlock:")) {
            put({line, "\n"});
        } else if (line.starts_with(misuse)) {
            line.remove_prefix(misuse.size());
            for (std::string_view const kind : {"thread:", "mutex:", "signal:"}) put({kind, line, "\n"});
        }
    }
    void put(std::initializer_list<std::string_view> parts) {
        std::size_t bytes = 0;
        for (std::string_view const part : parts) bytes += part.size();
        if (used_ + bytes >= sizeof text_) return;
        for (std::string_view const part : parts)
            for (char const c : part) text_[used_++] = c;
    }

    char name_[4096] = {};
    char line_[1024];
    std::size_t length_ = 0;
    char text_[1 << 16] = {};
    std::size_t used_ = 0;
};
SuppressionText suppression_text;

void choose(int, char** arguments, char** environment) {
    if (!schedule_is_asked_for(environment)) return for_settings(environment, hand_on);
    fix_addresses(arguments, environment);
    Told const told(environment);
    if (auto const* const size = told.find(AT_PAGESZ); size != nullptr) page_size = size->a_un.a_val;
    Loaded loaded;
    if (!load_embedded_image(loaded)) return;
    told.set(AT_PHDR, loaded.headers);
    told.set(AT_PHNUM, loaded.header_count);
    told.set(AT_ENTRY, loaded.entry);
    told.set(AT_BASE, loaded.linker_base);
    begin(loaded.linker_entry, reinterpret_cast<void**>(arguments) - 1);
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const first_of_all)(int, char**, char**) = choose;

}  // namespace
}  // namespace fencepost

// A program that has this function keeps it, and TSAN_OPTIONS comes after it.
extern "C" [[gnu::weak, gnu::visibility("default")]] char const* __tsan_default_options() {
    return fencepost::thread_sanitizers_options;
}

// The same holds for this one and its own suppressions.
extern "C" [[gnu::weak, gnu::visibility("default")]] char const* __tsan_default_suppressions() {
    return fencepost::suppression_text.of_file(fencepost::suppressions);
}
