#include "sanitizer/report/places.hpp"

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <link.h>

#include "sanitizer/core/allocations.hpp"
#include "sanitizer/core/threads.hpp"

namespace fencepost {
namespace {

void name_global(std::uintptr_t address, DataPlace& place) {
    Dl_info info;
    void* entry = nullptr;
    if (dladdr1(reinterpret_cast<void*>(address), &info, &entry, RTLD_DL_SYMENT) == 0) return;
    auto const* const symbol = static_cast<ElfW(Sym) const*>(entry);
    auto const begin = reinterpret_cast<std::uintptr_t>(info.dli_saddr);
    if (info.dli_sname == nullptr || symbol == nullptr || address >= begin + symbol->st_size) return;
    place.name = info.dli_sname;
    place.size = symbol->st_size;
}

bool on_stack_of(Thread const& t, std::uintptr_t address) {
    return t.state != Thread::State::unused && address >= t.stack_low && address < t.stack_high;
}

}  // namespace

DataPlace find_data(std::uintptr_t address) {
    DataPlace place;
    place.module = find_module(address);
    if (place.module.module != nullptr) {
        place.kind = DataPlace::Kind::global;
        name_global(address, place);
        return place;
    }
    if (Block const block = find_block(address); block.begin != 0) {
        place.kind = DataPlace::Kind::heap;
        place.begin = block.begin;
        place.size = block.bytes;
        place.allocated_by = block.stack;
        return place;
    }
    Locked held(threads_lock);
    for (Thread* t = all_threads; t != nullptr; t = t->next) {
        if (!on_stack_of(*t, address)) continue;
        place.kind = DataPlace::Kind::stack;
        place.thread = t->id;
    }
    return place;
}

ThreadName name_of_thread(std::uint32_t id) {
    ThreadName name{};
    Locked held(threads_lock);
    for (Thread* t = all_threads; t != nullptr; t = t->next)
        if (t->id == id && t->state != Thread::State::unused)
            __builtin_memcpy(name.text, t->name, sizeof name.text);
    if (id == 0 && name.text[0] == '\0') __builtin_memcpy(name.text, "main", 5);
    return name;
}

}  // namespace fencepost
