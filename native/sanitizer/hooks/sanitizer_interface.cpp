// What all sanitizers have in common for programs that know them (<sanitizer/common_interface_defs.h>), and
// the functions that such a program may define for ThreadSanitizer to call.
//
// Where a report goes is a setting here (FENCEPOST_OPTIONS); what is about other kinds of error does nothing.
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sanitizer/core/stacks.hpp"
#include "sanitizer/core/threads.hpp"
#include "sanitizer/hooks/public_interface.hpp"
#include "sanitizer/hooks/runtime.hpp"
#include "sanitizer/report/symbols.hpp"
#include "sanitizer/system/modules.hpp"
#include "sanitizer/system/text.hpp"

using namespace fencepost;

namespace {

void copy_text(std::string_view text, char* into, std::size_t size) {
    if (size == 0) return;
    std::size_t const length = text.size() < size ? text.size() : size - 1;
    __builtin_memcpy(into, text.data(), length);
    into[length] = '\0';
}

void write_frame(Text& out, std::uintptr_t pc) {
    Symbol const& symbol = *symbol_at(pc);
    ModuleOffset const where = find_module(pc - 1);
    out << (symbol.function != nullptr ? symbol.function : "??");
    if (symbol.line != nullptr) out << " " << symbol.line;
    if (where.module != nullptr) out << " (" << where.module << "+0x" << Hex{where.offset} << ")";
}

template <class T>
T load_unaligned(void const* from) {
    T value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

}  // namespace

FENCEPOST_PUBLIC(void, __tsan_on_initialize) {}
FENCEPOST_PUBLIC(int, __tsan_on_finalize, int failed) {
    return failed;
}

FENCEPOST_PUBLIC(void, __sanitizer_set_report_path, char const*) {}
FENCEPOST_PUBLIC(void, __sanitizer_set_report_fd, void*) {}
FENCEPOST_PUBLIC(char const*, __sanitizer_get_report_path) {
    return "stderr";
}
FENCEPOST_PUBLIC(void, __sanitizer_sandbox_on_notify, void*) {}
FENCEPOST_PUBLIC(void, __sanitizer_report_error_summary, char const* summary) {
    Text out;
    out << "SUMMARY: " << summary << "\n";
    out.write_to(2);
}
FENCEPOST_PUBLIC(void, __sanitizer_set_death_callback, void (*)()) {}
FENCEPOST_PUBLIC(int, __sanitizer_acquire_crash_state) {
    static int taken = 0;
    return __atomic_exchange_n(&taken, 1, __ATOMIC_RELAXED) == 0;
}

FENCEPOST_PUBLIC(std::uint16_t, __sanitizer_unaligned_load16, void const* from) {
    return load_unaligned<std::uint16_t>(from);
}
FENCEPOST_PUBLIC(std::uint32_t, __sanitizer_unaligned_load32, void const* from) {
    return load_unaligned<std::uint32_t>(from);
}
FENCEPOST_PUBLIC(std::uint64_t, __sanitizer_unaligned_load64, void const* from) {
    return load_unaligned<std::uint64_t>(from);
}
FENCEPOST_PUBLIC(void, __sanitizer_unaligned_store16, void* to, std::uint16_t value) {
    __builtin_memcpy(to, &value, sizeof value);
}
FENCEPOST_PUBLIC(void, __sanitizer_unaligned_store32, void* to, std::uint32_t value) {
    __builtin_memcpy(to, &value, sizeof value);
}
FENCEPOST_PUBLIC(void, __sanitizer_unaligned_store64, void* to, std::uint64_t value) {
    __builtin_memcpy(to, &value, sizeof value);
}

// About memory that must not be touched, which AddressSanitizer looks for.
FENCEPOST_PUBLIC(void, __sanitizer_annotate_contiguous_container, void const*, void const*, void const*,
                 void const*) {}
FENCEPOST_PUBLIC(int, __sanitizer_verify_contiguous_container, void const*, void const*, void const*) {
    return 1;
}
FENCEPOST_PUBLIC(void const*, __sanitizer_contiguous_container_find_bad_address, void const*, void const*,
                 void const*) {
    return nullptr;
}
FENCEPOST_PUBLIC(void, __sanitizer_print_memory_profile, std::size_t, std::size_t) {}
// Stacks that AddressSanitizer fakes.
FENCEPOST_PUBLIC(void, __sanitizer_start_switch_fiber, void**, void const*, std::size_t) {}
FENCEPOST_PUBLIC(void, __sanitizer_finish_switch_fiber, void*, void const** bottom, std::size_t* size) {
    if (bottom != nullptr) *bottom = nullptr;
    if (size != nullptr) *size = 0;
}

FENCEPOST_PUBLIC(void, __sanitizer_print_stack_trace) {
    Hook hook;
    if (!hook) return;
    Stack const stack = walk_stack(hook.thread(), __builtin_frame_address(0), stack_depth);
    look_up_symbols(stack.frames, stack.count);
    Text out;
    for (std::size_t i = 0; i < stack.count; ++i) {
        out << "    #" << std::uint64_t{i} << " ";
        write_frame(out, stack.frames[i]);
        out << "\n";
    }
    out.write_to(2);
}
// The format is not looked at: function, line, module and offset are all that is known.
FENCEPOST_PUBLIC(void, __sanitizer_symbolize_pc, void* pc, char const*, char* into, std::size_t size) {
    auto const address = reinterpret_cast<std::uintptr_t>(pc);
    Hook hook;
    look_up_symbols(&address, 1);
    Text out;
    write_frame(out, address);
    copy_text(out.view(), into, size);
}
FENCEPOST_PUBLIC(void, __sanitizer_symbolize_global, void* address, char const*, char* into,
                 std::size_t size) {
    char const* const name = name_of_global(reinterpret_cast<std::uintptr_t>(address));
    copy_text(name != nullptr ? name : "", into, size);
}
FENCEPOST_PUBLIC(int, __sanitizer_get_module_and_offset_for_pc, void* pc, char* module, std::size_t size,
                 void** offset) {
    ModuleOffset const where = find_module(reinterpret_cast<std::uintptr_t>(pc));
    if (where.module == nullptr) return 0;
    copy_text(where.module, module, size);
    *offset = reinterpret_cast<void*>(where.offset);
    return 1;
}

#define CALLED_BY_OTHERS(name, ...) \
    FENCEPOST_PUBLIC(void, __sanitizer_weak_hook_##name, __VA_ARGS__) {}
CALLED_BY_OTHERS(memcmp, void*, void const*, void const*, std::size_t, int)
CALLED_BY_OTHERS(strncmp, void*, char const*, char const*, std::size_t, int)
CALLED_BY_OTHERS(strncasecmp, void*, char const*, char const*, std::size_t, int)
CALLED_BY_OTHERS(strcmp, void*, char const*, char const*, int)
CALLED_BY_OTHERS(strcasecmp, void*, char const*, char const*, int)
CALLED_BY_OTHERS(strstr, void*, char const*, char const*, char*)
CALLED_BY_OTHERS(strcasestr, void*, char const*, char const*, char*)
CALLED_BY_OTHERS(memmem, void*, void const*, std::size_t, void const*, std::size_t, void*)
