#include "sanitizer/core/history.hpp"

#include <bit>

#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/options.hpp"

namespace fencepost {

std::int64_t room_elsewhere;

namespace {

constexpr Time superseded = -1;
constexpr std::uint32_t max_capacity = (1 << 29) - 1;
constexpr std::uint32_t fewest = 4;     // steps that there is room for
constexpr std::uint32_t most_kept = 8;  // likewise, where a location ends and another may begin

// A thread tells the others of it only when it is much.
constexpr std::int64_t much_room = 64;
constinit thread_local std::int64_t untold_room [[gnu::tls_model("initial-exec")]] = 0;

void tell_room() {
    __atomic_fetch_add(&room_elsewhere, untold_room, __ATOMIC_RELAXED);
    untold_room = 0;
}
void change_room(std::int64_t more) {
    untold_room += more;
    if (untold_room >= much_room || untold_room <= -much_room) tell_room();
}

// Room for a few steps comes and goes with every other location, so a thread keeps some blocks of each size
// to itself.
class StepBlocks {
  public:
    static constexpr bool keeps(std::uint32_t capacity) { return capacity <= most_kept; }
    Step* take(std::uint32_t capacity) {
        Blocks& blocks = of(capacity);
        if (blocks.first == nullptr) {
            blocks.first = static_cast<Block*>(memory::allocate_chain(capacity * sizeof(Step), batch));
            blocks.count = batch;
        }
        Block* const taken = blocks.first;
        blocks.first = taken->next;
        --blocks.count;
        return reinterpret_cast<Step*>(taken);
    }
    void put(Step* steps, std::uint32_t capacity) {
        Blocks& blocks = of(capacity);
        if (blocks.count == 2 * batch) leave(capacity);
        auto* const block = reinterpret_cast<Block*>(steps);
        block->next = blocks.first;
        blocks.first = block;
        ++blocks.count;
    }
    void leave_all() {
        for (std::uint32_t capacity = fewest; keeps(capacity); capacity *= 2) leave(capacity);
    }

  private:
    static constexpr std::uint32_t batch = 16;
    struct Block {
        Block* next;
    };
    struct Blocks {
        Block* first;
        std::uint32_t count;
    };

    Blocks& of(std::uint32_t capacity) { return all_[std::bit_width(capacity / (2 * fewest))]; }
    void leave(std::uint32_t capacity) {
        memory::release_chain(of(capacity).first, capacity * sizeof(Step));
        of(capacity) = {};
    }

    Blocks all_[std::bit_width(most_kept / (2 * fewest)) + 1];
};
constinit thread_local StepBlocks own_blocks [[gnu::tls_model("initial-exec")]] = {};

Step* allocate_steps(std::uint32_t capacity) {
    return StepBlocks::keeps(capacity) ? own_blocks.take(capacity) : memory::allocate_array<Step>(capacity);
}
void release_steps(Step* steps, std::uint32_t capacity) {
    if (steps == nullptr) return;
    if (StepBlocks::keeps(capacity))
        own_blocks.put(steps, capacity);
    else
        memory::release_array(steps, capacity);
}

// Values on their way from dropped writes to the next write that is kept.
class Pending {
  public:
    ~Pending() { Gap::release(gap_); }

    void add_write(std::uint64_t value, bool free, bool is_rmw) {
        start(is_rmw);
        gap_ = gap_->with(value, free);
    }
    void add_gap(Gap* gap) {
        if (gap == nullptr) return;
        if (gap_ == nullptr) {
            gap_ = gap;
            return;
        }
        gap_ = gap_->with_all_of(*gap);
        Gap::release(gap);
    }
    Gap* take() {
        Gap* const gap = gap_;
        gap_ = nullptr;
        return gap;
    }

  private:
    void start(bool first_is_rmw) {
        if (gap_ == nullptr) gap_ = Gap::make(first_is_rmw);
    }

    Gap* gap_ = nullptr;
};

}  // namespace

Gap* Gap::make(bool first_is_rmw) {
    auto const room = static_cast<std::uint32_t>((memory::usable(bytes(1)) - sizeof(Gap)) / sizeof(Value));
    auto* const gap = static_cast<Gap*>(memory::allocate(bytes(room)));
    gap->first_is_rmw_ = first_is_rmw;
    gap->any_free_ = false;
    gap->too_many_ = false;
    gap->count_ = 0;
    gap->capacity_ = room;
    return gap;
}

void Gap::release(Gap* gap) {
    if (gap != nullptr) memory::release(gap, bytes(gap->capacity_));
}

Gap* Gap::with(std::uint64_t value, bool free) {
    any_free_ = any_free_ || free;
    if (too_many_) return this;
    for (std::uint32_t i = 0; i < count_; ++i) {
        if (values_[i].value != value) continue;
        values_[i].free = values_[i].free || free;
        return this;
    }
    if (count_ == most) {
        too_many_ = true;
        count_ = 0;
        return this;
    }
    Gap* const gap = count_ == capacity_ ? enlarged() : this;
    gap->values_[gap->count_++] = {value, free};
    return gap;
}

Gap* Gap::with_all_of(Gap const& other) {
    Gap* gap = this;
    any_free_ = any_free_ || other.any_free_;
    if (other.too_many_) {
        too_many_ = true;
        count_ = 0;
    }
    for (std::uint32_t i = 0; i < other.count_; ++i)
        gap = gap->with(other.values_[i].value, other.values_[i].free);
    return gap;
}

Gap* Gap::enlarged() {
    auto const room =
        static_cast<std::uint32_t>((memory::usable(bytes(2 * capacity_)) - sizeof(Gap)) / sizeof(Value));
    auto* const larger = static_cast<Gap*>(memory::allocate(bytes(room)));
    __builtin_memcpy(static_cast<void*>(larger), this, bytes(count_));
    larger->capacity_ = room;
    release(this);
    return larger;
}

void History::begin(std::uint64_t initial) {
    value = initial;
    written = read = {};
    read_access = {};
    listed_ = has_stores_ = false;
}

void History::begin_again(std::uint64_t initial) {
    drop_all();
    begin(initial);
}

void History::end() {
    drop_all();
    if (capacity_ > most_kept) move_to(0);
}

Step History::at(std::ptrdiff_t position) const {
    if (position < 0) {
        Step base{};
        base.value = base_value_;
        return base;
    }
    return static_cast<std::uint32_t>(position) == count_ ? newest_step() : steps_[position];
}

// If nothing but itself says so.
void History::unlist_newest() {
    if (count_ == 0) return;
    Step const& last = steps_[count_ - 1];
    if (last.gap != nullptr || last.slot != written.slot()) return;
    --count_;
    listed_ = false;
}

void History::add_knower(Slot slot, Time time, bool marked) {
    if (!listed_) list_newest();
    if (count_ == capacity_) make_room();
    if (count_ == 0) return;  // everybody knows it
    Step& step = steps_[count_++];
    step = newest_step();
    step.slot = static_cast<std::uint16_t>(slot);
    step.marked = marked;
    step.time = time;
    step.gap = Step::same_write();
}

template <class Clock>
bool History::knows_newest(Clock clock) const {
    if (written.time() == 0 || newest_step().known_to(clock)) return true;
    if (!listed_) return false;
    for (std::ptrdiff_t i = last(); i >= 0; --i) {
        if (steps_[i].known_to(clock)) return true;
        if (!steps_[i].again()) return false;
    }
    return true;
}

template bool History::knows_newest(Time const*) const;
template bool History::knows_newest(ScClock) const;

std::ptrdiff_t History::known(Time const* clock, std::ptrdiff_t from) const {
    if (static_cast<std::uint32_t>(from) == count_) {
        if (newest_known_to(clock)) return from;
        --from;
    }
    while (from >= 0 && !steps_[from].known_to(clock)) --from;
    return from;
}

bool History::any_write_between(std::ptrdiff_t from, std::ptrdiff_t to) const {
    while (to > from && at(to).again()) --to;
    return to > from;
}

bool History::any_store_between(std::ptrdiff_t from, std::ptrdiff_t to) const {
    for (std::ptrdiff_t i = to; i > from; --i) {
        Step const step = at(i);
        if (step.again()) continue;
        if (!step.is_rmw()) return true;
        if (step.gap != nullptr && (!step.gap->first_is_rmw() || step.gap->any_free())) return true;
    }
    return false;
}

void History::release_gaps(std::uint32_t before) {
    for (std::uint32_t i = 0; has_gaps_ && i < before; ++i)
        if (!steps_[i].again()) Gap::release(steps_[i].gap);
}

void History::move_to(std::uint32_t capacity) {
    Step* const old = steps_;
    std::uint32_t const old_capacity = capacity_;
    if (capacity == old_capacity) return;
    capacity_ = capacity & max_capacity;
    if (capacity == 0) {
        steps_ = nullptr;
    } else {
        steps_ = allocate_steps(capacity);
        if (count_ != 0) __builtin_memcpy(steps_, old, count_ * sizeof(Step));
    }
    release_steps(old, old_capacity);
    change_room(static_cast<std::int64_t>(capacity_) - static_cast<std::int64_t>(old_capacity));
}

void leave_room() {
    tell_room();
    own_blocks.leave_all();
}

void History::make_room() {
    if (count_ != 0) drop_known_to_all();
    if (count_ >= capacity_ / 2) move_to(capacity_ == 0 ? fewest : 2 * capacity_);
}

void History::shrink() {
    if (count_ == 0)
        move_to(0);
    else if (capacity_ > 64 && count_ <= capacity_ / 8)
        move_to(std::bit_ceil(4 * count_));
}

// The base becomes the newest write that everybody knows; gives the first step behind it.
std::uint32_t History::move_base() {
    std::uint32_t begin = count_;
    while (begin > 0 && !steps_[begin - 1].known_to(known_to_all)) --begin;
    if (begin == 0) return 0;
    base_value_ = steps_[begin - 1].value;
    while (begin < count_ && steps_[begin].again()) ++begin;
    return begin;
}

void History::drop_before(std::uint32_t begin) {
    if (begin == 0) return;
    release_gaps(begin);
    count_ -= begin;
    has_gaps_ = has_gaps_ && count_ != 0;
    __builtin_memmove(steps_, steps_ + begin, count_ * sizeof(Step));
}

// A thread that knows a step also knows later ones of the same slot and time; but an SC clock may know only
// marked ones.
bool History::mark_superseded() {
    struct Seen {
        std::uint64_t round;
        Time time, marked_time;
    };
    static Seen* seen;
    static std::uint64_t round;
    if (seen == nullptr) seen = static_cast<Seen*>(memory::pages(options.threads_limit * sizeof(Seen)));
    ++round;
    bool any = false;
    for (std::uint32_t i = count_; i > 0; --i) {
        Step& step = steps_[i - 1];
        Seen& later = seen[step.slot];
        if (later.round != round) later = {round, superseded, superseded};
        Time const time = step.time;
        if (time == (step.marked ? later.marked_time : later.time)) {
            step.time = superseded;
            any = true;
        }
        later.time = time;
        if (step.marked) later.marked_time = time;
    }
    return any;
}

// Only what is not superseded stays.
void History::drop_superseded() {
    Pending pending;
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < count_;) {
        Step const write = steps_[i];
        pending.add_gap(write.gap);
        bool write_is_kept = false;
        do {
            if (steps_[i].time == superseded) continue;
            if (kept != i) steps_[kept] = steps_[i];
            steps_[kept].gap = write_is_kept ? Step::same_write() : pending.take();
            ++kept;
            write_is_kept = true;
        } while (++i < count_ && steps_[i].again());
        if (write_is_kept) continue;  // as the newest write always is, so there is a step behind this one
        Gap const* const next_gap = steps_[i].gap;
        bool const followed_by_rmw = next_gap != nullptr ? next_gap->first_is_rmw() : steps_[i].is_rmw();
        has_gaps_ = true;
        pending.add_write(write.value, !followed_by_rmw, write.is_rmw());
    }
    count_ = kept;
}

}  // namespace fencepost
