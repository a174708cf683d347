// Locations: from an address to what is known of it.
//
// A cell belongs to the address at which accesses begin, whatever their size; accesses of several sizes at
// one address share it, overlapping ones at different addresses do not know of each other. There is a second
// kind, for objects that synchronise as a whole (mutexes and their like), which have no history.
//
// Cells hang in a table over the address space, by granules of four bytes. They are never given back to the
// system, so a pointer to one may be kept; after locking a cell, check that it is still the one that was
// meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sanitizer/core/history.hpp"
#include "sanitizer/core/sc_provenance.hpp"
#include "sanitizer/core/shadow.hpp"
#include "sanitizer/core/threads.hpp"
#include "sanitizer/system/lock.hpp"
#include "sanitizer/system/processor.hpp"

namespace fencepost {

enum class CellKind : std::uint8_t { atomic, synchronisation };

// Which cell it is: address and kind in one word. 0: none.
constexpr std::uintptr_t key_of(std::uintptr_t address, CellKind kind) {
    return address | static_cast<std::uintptr_t>(kind) << 63;
}

// What the newest write carries for ThreadSanitizer, as races/feed.hpp packs it. All zero: nothing, as always
// in mode atomics.
struct RaceMessage {
    std::uint64_t word;
};
// The cell is gone. Set in mode races.
extern void (*forget_race_message)(RaceMessage&);
// One more of it, for an old write that may still be read (weak_memory.hpp). Set in mode full.
extern RaceMessage (*copy_of_race_message)(RaceMessage const&);
inline RaceMessage copy_race_message(RaceMessage const& m) {
    return m.word == 0 || copy_of_race_message == nullptr ? RaceMessage{} : copy_of_race_message(m);
}

// What a cell of either kind has.
struct CellHead {
    Lock lock;
    std::uint8_t size;  // of the last access
    bool foreign : 1;   // others than instrumented code write it, and we are told (static-local guards)
    bool message_is_write : 1;  // W is what the thread of the newest write knew as C when it wrote
    bool has_messages : 1;      // else: W is what the messages knew; or nothing
    bool has_readers : 1;       // besides `read`
    bool has_sc_clocks : 1;     // not all of them are zero
    std::uintptr_t key;
    RaceMessage race_message;
};

// An access of this kind by the thread with this version of P and F (threads.hpp) changes neither them nor E
// nor the location's clocks, but for the thread's own part. All zero: nobody's.
class ScSettled {
  public:
    ScSettled() = default;
    ScSettled(Thread const& t, bool seq_cst) : word_(t.sc_version | std::uint64_t{seq_cst}) {}
    bool holds(Thread const& t, bool seq_cst) const {
        return word_ == (t.sc_version | std::uint64_t{seq_cst});
    }
    bool is_of(Thread const& t) const { return (word_ & ~std::uint64_t{1}) == t.sc_version; }

  private:
    std::uint64_t word_ = 0;
};

// What only a few atomics need.
struct Others {
    Stamps<Stamp> messages;
    Stamps<Reader> readers;
    ScClocks* sc_clocks;  // as LocationClock says
    ScSettled reads, writes;
    bool read_in_s;  // since the last write: else `before_writes` has nothing that `before_reads` has not
    alignas(16) std::byte room[ScClocks::bytes(location_clocks, lanes)];  // for them, while threads are few
};

static_assert(sizeof(Others) == 2 * 64);

// A synchronisation object: what its releases knew, as C and as SC.
struct Object {
    std::uint32_t members, arrivals;  // of a barrier
    Time* wide_clocks;                // where the clocks are when there are more threads
    std::uint32_t width;              // of the clocks
    ScClocks* sc_clocks;              // as MessageClock says
    bool after_fence;                 // F is not all zero
    bool after_eco;                   // likewise E
    static constexpr std::uint32_t most_releasers = 64;
    Stamps<Moment> releasers;  // the last ones, for reports
    std::uint32_t releases;
    alignas(16) Time own_clocks[2 * lanes];

    static constexpr std::uint32_t clock_count = 2;
    Time* clocks() { return width == lanes ? own_clocks : wide_clocks; }
    Time* current() { return clocks(); }
    Time* sc() { return clocks() + width; }
    void forget_clocks() {
        __builtin_memset(clocks(), 0, clock_count * width * sizeof(Time));
        ScClocks::release(sc_clocks);
    }
    // Makes room for all slots in use.
    void widen() {
        if (width < clock_width) [[unlikely]]
            widen_clocks();
    }
    void end();

  private:
    void widen_clocks();
    void release_wide_clocks();
};

// Two cache lines, which the processor brings together; a read needs only the first.
//
// WSC of design.md, section 7, is what `written` knew as SC; MSC is that and what the readers knew as SC; W
// is what `written`, or else the messages, knew as C.
struct alignas(128) Cell : CellHead, History {
    Stamp message;
    Cell* next;  // in its granule, or in the list of free cells
    union {
        Others* others;  // of an atomic; mostly null
        Object* object;
    };

    std::uintptr_t address() const { return key & ~key_of(0, CellKind::synchronisation); }
    CellKind kind() const { return static_cast<CellKind>(key >> 63); }

    // Besides `read` and `message`.
    std::span<Reader> more_readers() const {
        return has_readers ? others->readers.all() : std::span<Reader>();
    }
    std::span<Stamp> more_messages() const {
        return has_messages && others != nullptr ? others->messages.all() : std::span<Stamp>();
    }
    Others& make_others();

    // Of an atomic that has some.
    ScClock sc_clock(LocationClock which) const { return (*others->sc_clocks)[which]; }
    ScClocks& ready_sc_clocks() {
        has_sc_clocks = true;
        Others& made = others != nullptr ? *others : make_others();
        return ScClocks::ready(made.sc_clocks, location_clocks, made.room);
    }

    void forget_sc_clocks() {
        has_sc_clocks = false;
        ScClocks::release(others->sc_clocks);
        others->reads = others->writes = {};
        others->read_in_s = false;
    }

    // Before another write, which carries it on.
    void keep_message() {
        if (!message_is_write) return;
        message = written;
        message_is_write = false;
        has_messages = true;
    }
    void forget_readers() {
        read = {};
        if (has_readers) others->readers.clear();
        has_readers = false;
    }
    void forget_messages() {
        if (has_messages && others != nullptr) others->messages.clear();
        has_messages = false;
    }

    // The location begins anew, because its memory was written by code that is not instrumented.
    void begin_again(std::uint64_t initial);
};

static_assert(sizeof(Cell) == 2 * 64);

// The locked cell of an address; `created` tells whether it is a new one, whose history has not begun. Null
// if the address is outside what the table covers.
class LockedCell {
  public:
    [[gnu::always_inline]] LockedCell(Thread& t, std::uintptr_t address, CellKind kind)
        : LockedCell(t, address, kind, glimpse(t, address)) {}
    // `glimpsed` may be it.
    [[gnu::always_inline]] LockedCell(Thread& t, std::uintptr_t address, CellKind kind, Cell* glimpsed)
        : found_{lock_if_it_is(glimpsed, key_of(address, kind)) ? glimpsed : nullptr, false} {
        if (found_.cell == nullptr) [[unlikely]]
            found_ = find(t, address, kind);
    }
    [[gnu::always_inline]] ~LockedCell() {
        if (found_.cell != nullptr) found_.cell->lock.unlock_as_counted();
    }
    LockedCell(LockedCell const&) = delete;
    LockedCell& operator=(LockedCell const&) = delete;

    explicit operator bool() const { return found_.cell != nullptr; }
    Cell& operator*() const { return *found_.cell; }
    Cell* operator->() const { return found_.cell; }
    bool created() const { return found_.created; }

    // The cell of the address if that is quickly found, not locked: it may change, or be another's already.
    [[gnu::always_inline]] static Cell* glimpse(Thread& t, std::uintptr_t address) {
        shadow::Region* const region = t.regions.find(address);
        return region == nullptr ? nullptr : __atomic_load_n(&region->granule(address), __ATOMIC_ACQUIRE);
    }

  private:
    struct Found {
        Cell* cell;
        bool created;
    };

    // Without the table's lock a chain may change while it is followed, even lead into the list of free
    // cells. So a cell may be missed, and one that is found must be locked and looked at again.
    [[gnu::always_inline]] static bool lock_if_it_is(Cell* candidate, std::uintptr_t key) {
        if (candidate == nullptr) return false;
        prefetch_to_write(candidate);
        if (__atomic_load_n(&candidate->key, __ATOMIC_RELAXED) != key) return false;
        candidate->lock.lock();
        if (candidate->key == key) [[likely]]
            return true;
        candidate->lock.unlock();
        return false;
    }
    static Found find(Thread&, std::uintptr_t address, CellKind);

    Found found_;
};

// Memory may have been written by code that is not instrumented: a constructor, a plain store, a library. If
// it does not hold what the newest write left there, the location begins anew: such a write must happen after
// all that it overwrites and before all that reads it (else it is a race), so nobody can miss older ones any
// more. The message is kept, because the foreign write may have been an RMW that carries it on.
inline bool is_in_step(LockedCell const& x, std::uint64_t value, std::size_t size) {
    return !x.created() && x->size == size && x->value == value;
}
void bring_in_step(Cell&, bool created, std::uint64_t value, std::size_t size);
inline void keep_in_step(LockedCell const& x, std::uint64_t value, std::size_t size) {
    if (!is_in_step(x, value, size)) [[unlikely]]
        bring_in_step(*x, x.created(), value, size);
}

// The memory is free or unmapped: what will be there next begins anew. The first is for inside a hook.
void forget_range(std::uintptr_t begin, std::size_t bytes);
void forget_memory(void const volatile* begin, std::size_t bytes);

// Calls action(cell) for all cells in use. Only while the world stands still.
template <class Action>
void for_all_cells(Action action);

struct CellSlab {
    CellSlab* next;
    std::size_t count;
    Cell cells[];
};
extern CellSlab* cell_slabs;
extern std::size_t cells_in_use;

template <class Action>
void for_all_cells(Action action) {
    for (CellSlab* slab = cell_slabs; slab != nullptr; slab = slab->next)
        for (std::size_t i = 0; i < slab->count; ++i)
            if (slab->cells[i].key != 0) action(slab->cells[i]);
}

}  // namespace fencepost
