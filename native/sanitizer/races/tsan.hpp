// ThreadSanitizer's own interface, as far as it is used here. gcc 12 and clang 14 to 19 have all of it but
// the last, which only clang's has.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

// These the linker leads to functions of ours (hooks/public_interface.hpp); the library itself wants the real
// ones.
void __tsan_acquire(void* address) __asm__("__real___tsan_acquire");
void __tsan_release(void* address) __asm__("__real___tsan_release");
void* __tsan_get_current_fiber() __asm__("__real___tsan_get_current_fiber");

void __tsan_func_entry(void* return_address);
void __tsan_func_exit();

// What lies at an address: "heap", "stack", …
char const* __tsan_locate_address(void* address, char* name, std::size_t name_size, void** begin,
                                  std::size_t* size);
int __tsan_get_alloc_stack(void* address, void** trace, std::size_t trace_size, int* thread,
                           std::uint64_t* kernel_thread);

std::size_t __sanitizer_get_allocated_size(void const volatile*);
int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(void const volatile*, std::size_t),
                                              void (*freed)(void const volatile*));

// Where reports go: a file, as a pointer.
void __sanitizer_set_report_fd(void* file);

// Called when a report has been printed; what it is about can be asked with the functions below, until it
// returns.
void __tsan_on_report(void* report);
int __tsan_get_report_data(void* report, char const** description, int* count, int* stacks, int* accesses,
                           int* locations, int* mutexes, int* threads, int* unique_threads,
                           void** sleep_trace, std::size_t trace_size);
int __tsan_get_report_stack(void* report, std::size_t index, void** trace, std::size_t trace_size);
int __tsan_get_report_mop(void* report, std::size_t index, int* thread, void** address, int* size, int* write,
                          int* atomic, void** trace, std::size_t trace_size);
int __tsan_get_report_loc(void* report, std::size_t index, char const** type, void** address,
                          std::size_t* start, std::size_t* size, int* thread, int* descriptor,
                          int* suppressable, void** trace, std::size_t trace_size);
int __tsan_get_report_thread(void* report, std::size_t index, int* thread, std::uint64_t* kernel_thread,
                             int* running, char const** name, int* parent, void** trace,
                             std::size_t trace_size);
}

namespace __tsan {

struct ThreadState;
class ReportDesc;

// Its functions for atomics begin with this one, the only one used here that is not public. With clang it is
// part of the program; gcc's library hides it, then it is null.
[[gnu::weak]] void MemoryAccess(ThreadState*, std::uintptr_t pc, std::uintptr_t address, std::uintptr_t size,
                                std::uintptr_t kind);

// Called before a report is printed: true leaves it out.
bool OnReport(ReportDesc const*, bool suppressed);

}  // namespace __tsan
