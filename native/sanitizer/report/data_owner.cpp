#include "sanitizer/report/data_owner.hpp"

#include "sanitizer/core/threads.hpp"
#include "sanitizer/report/symbols.hpp"

namespace fencepost {
namespace {

bool on_stack_of(Thread const& t, std::uintptr_t address) {
    return t.state != Thread::State::unused && address >= t.stack_low && address < t.stack_high;
}

}  // namespace

DataOwner find_owner(std::uintptr_t address, Block const& accessed) {
    DataOwner owner;
    owner.module = find_module(address);
    if (owner.module.module != nullptr) {
        owner.kind = DataOwner::Kind::global;
        Symbol const& global = global_at(address);
        owner.name = global.function;
        owner.size = global.size;
        return owner;
    }
    if (Block const block = accessed.begin != 0 ? accessed : find_block(address); block.begin != 0) {
        owner.kind = DataOwner::Kind::heap;
        owner.begin = block.begin;
        owner.size = block.bytes;
        owner.allocated_by = block.stack;
        return owner;
    }
    Locked held(threads_lock);
    for (Thread* t = all_threads; t != nullptr; t = t->next) {
        if (!on_stack_of(*t, address)) continue;
        owner.kind = DataOwner::Kind::stack;
        owner.thread = t->id;
    }
    return owner;
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
