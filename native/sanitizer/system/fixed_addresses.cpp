#include "sanitizer/system/fixed_addresses.hpp"

#include <fcntl.h>
#include <sys/personality.h>

#include <string_view>

#include "sanitizer/system/settings.hpp"
#include "sanitizer/system/syscalls.hpp"

namespace fencepost {
namespace {

// The strings of the environment lie above the stack, so their length moves it: runs that differ in their
// options only must not differ in that. Colons without a name between them are no options.
constexpr std::size_t padded_to = 4096;

bool is_padded(std::string_view setting) {
    return setting.size() % padded_to == 0;
}

char* padded(char* text) {
    std::string_view const setting(text);
    std::size_t const size = (setting.size() / padded_to + 1) * padded_to;
    auto* const copy = static_cast<char*>(kernel::pages(size + 1));
    if (copy == nullptr) return text;
    for (std::size_t i = 0; i < size; ++i) copy[i] = i < setting.size() ? setting[i] : ':';
    return copy;
}

// By its own name, which is the process's name too.
void start_anew(char** arguments, char** environment) {
    char path[4096] = {};
    kernel::call(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof path - 1);
    kernel::call(SYS_execve, path, arguments, environment);
}

}  // namespace

void fix_addresses(char** arguments, char** environment) {
    constexpr unsigned long ask = 0xffffffff;
    long const before = kernel::call(SYS_personality, ask);
    if (kernel::failed(before) || kernel::failed(kernel::call(SYS_personality, before | ADDR_NO_RANDOMIZE)))
        return;
    bool done = (before & ADDR_NO_RANDOMIZE) != 0;
    for (char** entry = environment; *entry != nullptr; ++entry) {
        std::string_view const setting(*entry);
        if (!setting.starts_with(settings_variable) || is_padded(setting)) continue;
        *entry = padded(*entry);
        done = false;
    }
    if (!done) start_anew(arguments, environment);
}

}  // namespace fencepost
