// Locations: from an address to what is known of it.
//
// A cell belongs to the address at which accesses begin, whatever their size; accesses of several sizes at
// one address share it, overlapping ones at different addresses do not know of each other. There is a second
// kind, for objects that synchronise as a whole (mutexes and their like), which have no history.
//
// Cells hang in a table over the address space, by granules of four bytes. They are never given back to the
// system, so a pointer to one may be kept; whoever locks a cell must look whether it is still the one he
// meant.
#pragma once

#include <cstddef>
#include <cstdint>

#include "history.hpp"
#include "links.hpp"
#include "lock.hpp"
#include "races_feed.hpp"
#include "shadow.hpp"
#include "threads.hpp"

namespace holdfast {

enum class CellKind : std::uint8_t { atomic, synchronisation };

// Which cell it is: address and kind in one word. 0: none.
constexpr std::uintptr_t key_of(std::uintptr_t address, CellKind kind) {
    return address | static_cast<std::uintptr_t>(kind) << 63;
}

// Five cache lines: what every access looks at is in the first, the clocks are in the last two.
struct alignas(64) Cell {
    Lock lock;
    std::uint8_t size;  // of the last access
    bool foreign : 1;   // others than instrumented code write it, and we are told (static-local guards)
    bool writer_knew_message : 1;  // the thread of the newest write: W ⊑ C, when it wrote

    // Shortcuts of robustness.cpp: what holds of the thread that made the last access, unless it has learned
    // something since.
    bool knows_message : 1;       // W ⊑ C
    bool wrote : 1;               // WSC = MSC = SC, but for its own steps since
    bool message_is_current : 1;  // W = C, likewise
    bool message_is_release : 1;  // W = R
    std::uint16_t width;          // of its clocks

    std::uintptr_t key;
    Epoch seen;  // of the thread that made the last access, when it did
    History history;
    Cell* next;  // in its granule, or in the list of free cells

    // Of an atomic: W, WSC and MSC of design.md, section 7. Of a synchronisation object: what its releases
    // knew, as C and as SC.
    Time own_clocks[3 * lanes];
    Time* wide_clocks;  // where they are when there are more threads
    union {
        PackedAccess last_access;
        struct {
            std::uint32_t members, arrivals;
        } barrier;
    };
    PackedAccess last_write;
    std::uint32_t last_writer;
    [[no_unique_address]] races::Message told;

    static constexpr std::uint32_t clock_count = 3;

    std::uintptr_t address() const { return key & ~key_of(0, CellKind::synchronisation); }
    CellKind kind() const { return static_cast<CellKind>(key >> 63); }

    Time* clocks() { return width == lanes ? own_clocks : wide_clocks; }
    Time const* clocks() const { return width == lanes ? own_clocks : wide_clocks; }
    Time* message() { return clocks(); }
    Time* write_sc() { return clocks() + width; }
    Time* access_sc() { return clocks() + std::size_t{2} * width; }
    Time const* message() const { return clocks(); }
    Time const* write_sc() const { return clocks() + width; }
    Time const* access_sc() const { return clocks() + std::size_t{2} * width; }

    void begin_again(std::uint64_t value);
    void forget_clocks() { __builtin_memset(clocks(), 0, clock_count * width * sizeof(Time)); }

    // Makes room for all slots in use.
    void widen() {
        if (width < clock_width) [[unlikely]]
            widen_clocks();
    }

  private:
    void widen_clocks();
    void release_clocks();

    friend void retire(Cell&);
};

#if !defined(HOLDFAST_RACES)
static_assert(sizeof(Cell) == 5 * 64);
#endif

// The locked cell of an address; `created` tells whether it is a new one, whose history has not begun. Null
// if the address is outside what the table covers.
class LockedCell {
  public:
    LockedCell(Thread& t, std::uintptr_t address, CellKind kind) {
        if (!lock_if_it_is(glimpse(t, address, kind), key_of(address, kind))) [[unlikely]]
            find(address, kind);
    }
    ~LockedCell() {
        if (cell_ != nullptr) cell_->lock.unlock();
    }
    LockedCell(LockedCell const&) = delete;
    LockedCell& operator=(LockedCell const&) = delete;

    explicit operator bool() const { return cell_ != nullptr; }
    Cell& operator*() const { return *cell_; }
    Cell* operator->() const { return cell_; }
    bool created() const { return created_; }

  private:
    bool lock_if_it_is(Cell* candidate, std::uintptr_t key) {
        if (candidate == nullptr) return false;
        candidate->lock.lock();
        if (candidate->key == key) [[likely]] {
            cell_ = candidate;
            return true;
        }
        candidate->lock.unlock();
        return false;
    }

    // Without the table's lock a chain may change while it is followed, even lead into the list of free
    // cells; so this may miss a cell, and who finds one must lock it and look again.
    static Cell* glimpse(Thread& t, std::uintptr_t address, CellKind kind) {
        shadow::Region* const region = t.regions.find(address);
        if (region == nullptr) return nullptr;
        Cell* cell = __atomic_load_n(&region->granule(address), __ATOMIC_ACQUIRE);
        std::uintptr_t const key = key_of(address, kind);
        for (int followed = 0; cell != nullptr && followed < 8; ++followed) {
            prefetch(cell);
            if (__atomic_load_n(&cell->key, __ATOMIC_RELAXED) == key) return cell;
            cell = __atomic_load_n(&cell->next, __ATOMIC_ACQUIRE);
        }
        return nullptr;
    }
    // All of its lines at once, before the first is there.
    static void prefetch(Cell const* cell) {
        auto const* const bytes = reinterpret_cast<char const*>(cell);
        for (std::size_t line = 64; line < 5 * 64; line += 64) __builtin_prefetch(bytes + line);
    }
    void find(std::uintptr_t address, CellKind kind);

    Cell* cell_ = nullptr;
    bool created_ = false;
};

// Memory may have been written by code that is not instrumented: a constructor, a plain store, a library. If
// it does not hold what the newest write left there, the location begins anew: such a write must happen after
// all that it overwrites and before all that reads it (else it is a race), so nobody can miss older ones any
// more. The message is kept, because the foreign write may have been an RMW that carries it on.
void bring_in_step(LockedCell& x, std::uint64_t value, std::size_t size);
inline void keep_in_step(LockedCell& x, std::uint64_t value, std::size_t size) {
    if (x.created() || x->size != size || x->history.value() != value) [[unlikely]]
        bring_in_step(x, value, size);
}

// The memory is free or unmapped: what will be there next begins anew. Inside a hook.
void forget_range(std::uintptr_t begin, std::size_t bytes);

// Calls action(cell) for all cells in use. Only while the world stands still.
template <class Action>
void for_all_cells(Action action);

struct CellSlab {
    static constexpr std::size_t size = 200;
    CellSlab* next;
    Cell cells[size];
};
extern CellSlab* cell_slabs;

template <class Action>
void for_all_cells(Action action) {
    for (CellSlab* slab = cell_slabs; slab != nullptr; slab = slab->next)
        for (Cell& cell : slab->cells)
            if (cell.key != 0) action(cell);
}

}  // namespace holdfast
