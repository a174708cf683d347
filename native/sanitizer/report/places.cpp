#include "sanitizer/report/places.hpp"

#include "sanitizer/core/allocations.hpp"
#include "sanitizer/core/threads.hpp"
#include "sanitizer/report/symbols.hpp"

namespace fencepost {
namespace {

bool on_stack_of(Thread const& t, std::uintptr_t address) {
    return t.state != Thread::State::unused && address >= t.stack_low && address < t.stack_high;
}

}  // namespace

DataPlace find_data(std::uintptr_t address) {
    DataPlace place;
    place.module = find_module(address);
    if (place.module.module != nullptr) {
        place.kind = DataPlace::Kind::global;
        Symbol const& global = global_at(address);
        place.name = global.function;
        place.size = global.size;
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
