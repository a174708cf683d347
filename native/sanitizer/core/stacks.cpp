#include "sanitizer/core/stacks.hpp"

#include "sanitizer/core/atomic_methods.hpp"
#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/syscalls.hpp"

namespace fencepost {
namespace {

struct Kept {
    std::uint32_t count;
    std::uint32_t next;  // with the same hash
    std::uintptr_t frames[kept_stack_depth];
};

constexpr std::uint32_t most_stacks = 1 << 20;
constexpr std::size_t buckets = 1 << 16;

Lock guard;
Kept* stacks;  // number 0 is none
std::uint32_t stack_count = 1;
std::uint32_t heads[buckets];

// What a function has saved at its frame address: its caller's frame, and where it returns to.
struct Frame {
    Frame const* caller;
    std::uintptr_t return_address;
};

bool on_stack(Frame const* frame, std::uintptr_t high) {
    auto const address = reinterpret_cast<std::uintptr_t>(frame);
    return address - 1 < high - sizeof(Frame) && address % alignof(Frame) == 0;  // null is above all
}

// Where a fiber's stack ends nobody tells: at most so far up as memory is mapped without a gap.
std::uintptr_t end_of_mapping(void const* frame) {
    constexpr std::uintptr_t page = 4096;
    unsigned char resident[512];
    std::uintptr_t end = reinterpret_cast<std::uintptr_t>(frame) & ~(page - 1);
    for (std::uintptr_t bytes = sizeof resident * page; bytes >= page; bytes /= 2)
        if (kernel::call(SYS_mincore, end, bytes, resident) == 0) end += bytes;
    return end;
}

// Frames lie above each other up to the end of the stack.
class Walk {
  public:
    Walk(Thread const& t, void const* frame)
        : frame_(static_cast<Frame const*>(frame)),
          base_(t.stack_base),
          high_(t.stack_high != 0 ? t.stack_high : end_of_mapping(frame)) {}

    std::uintptr_t next() {
        if (!on_stack(frame_, high_) || frame_->caller == base_) return 0;
        std::uintptr_t const pc = frame_->return_address;
        Frame const* const caller = frame_->caller;
        frame_ = caller > frame_ ? caller : nullptr;
        return pc < 4096 ? 0 : pc;
    }

  private:
    Frame const* frame_;
    void const* base_;
    std::uintptr_t high_;
};

// The same as a walk that compares, for every write. What is kept has no places that a walk would end at, so
// of the end of the stack only the last frame needs to know.
bool same(Thread const& t, void const* innermost, Kept const& kept) {
    auto const* frame = static_cast<Frame const*>(innermost);
    auto const* const highest = reinterpret_cast<Frame const*>(t.stack_high) - 1;
    if (kept.count == 0) return Walk(t, frame).next() == 0;
    for (std::uint32_t i = 0; frame->return_address == kept.frames[i];) {
        Frame const* const caller = frame->caller;
        if (++i == kept.count) {
            if (caller == t.stack_base) return false;
            return i == kept_stack_depth || Walk(t, caller > frame ? caller : nullptr).next() == 0;
        }
        if (caller <= frame || caller > highest) return false;
        frame = caller;
    }
    return false;
}

std::uintptr_t pc_among(std::uintptr_t const* frames, std::size_t count) {
    std::size_t i = 0;
    while (i + 1 < count && atomic_methods.has(frames[i])) ++i;
    return frames[i];
}

std::uint64_t hash(Stack const& stack) {
    std::uint64_t h = 0;
    for (std::size_t i = 0; i < stack.count; ++i) h = (h ^ stack.frames[i]) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

}  // namespace

std::uintptr_t Stack::pc() const {
    return pc_among(frames, count);
}

Stack walk_stack(Thread const& t, void const* frame, std::size_t depth) {
    Stack stack;
    Walk walk(t, frame);
    while (stack.count < depth) {
        std::uintptr_t const pc = walk.next();
        if (pc == 0) break;
        stack.frames[stack.count++] = pc;
    }
    return stack;
}

std::uint32_t keep_stack(Stack const& stack) {
    Locked held(guard);
    if (stacks == nullptr) stacks = static_cast<Kept*>(memory::pages(most_stacks * sizeof(Kept)));
    std::uint32_t& head = heads[hash(stack) % buckets];
    for (std::uint32_t id = head; id != 0; id = stacks[id].next)
        if (stacks[id].count == stack.count &&
            __builtin_memcmp(stacks[id].frames, stack.frames, stack.count * sizeof(std::uintptr_t)) == 0)
            return id;
    if (stack_count == most_stacks) return 0;
    std::uint32_t const id = stack_count++;
    stacks[id].count = static_cast<std::uint32_t>(stack.count);
    stacks[id].next = head;
    __builtin_memcpy(stacks[id].frames, stack.frames, stack.count * sizeof(std::uintptr_t));
    head = id;
    return id;
}

namespace {

std::uint32_t& cached_at(Thread& t, void const* frame) {
    std::uintptr_t const pc = static_cast<Frame const*>(frame)->return_address;
    return t.stacks.ids[(pc ^ pc >> 6) % StackCache::size];
}

// Apart, because it needs much room on the stack.
[[gnu::noinline]] std::uint32_t keep_new_stack(Thread& t, void const* frame) {
    if (t.stack_high == 0) t.stack_high = end_of_mapping(frame);
    return cached_at(t, frame) = keep_stack(walk_stack(t, frame, kept_stack_depth));
}

}  // namespace

std::uint32_t keep_stack(Thread& t, void const* frame) {
    std::uint32_t const cached = cached_at(t, frame);
    if (cached != 0 && t.stack_high != 0 && same(t, frame, stacks[cached])) [[likely]]
        return cached;
    return keep_new_stack(t, frame);
}

Stack kept_stack(std::uint32_t id) {
    Stack stack;
    if (id == 0) return stack;
    stack.count = stacks[id].count;
    __builtin_memcpy(stack.frames, stacks[id].frames, stack.count * sizeof(std::uintptr_t));
    return stack;
}

std::uintptr_t kept_pc(std::uint32_t id) {
    return id == 0 ? 0 : pc_among(stacks[id].frames, stacks[id].count);
}

}  // namespace fencepost
