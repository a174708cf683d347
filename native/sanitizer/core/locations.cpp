#include "sanitizer/core/locations.hpp"

#include "sanitizer/core/shadow.hpp"
#include "sanitizer/system/memory.hpp"

namespace fencepost {

CellSlab* cell_slabs;
std::size_t cells_in_use;
void (*forget_race_message)(RaceMessage&);
RaceMessage (*copy_of_race_message)(RaceMessage const&);

namespace {

using shadow::Region;

Lock table_lock;  // guards chains and free cells; only taken where a cell comes or goes
Cell* free_cells;

// A few at first; where there are many, as many as a large page holds.
constexpr std::size_t slab_bytes = 64 * 1024, small_slabs = 16;
std::size_t slabs_made;
Cell* fresh_cells;
Cell* fresh_end;

void make_cells() {
    bool const large = slabs_made++ >= small_slabs;
    std::size_t const bytes = large ? memory::large_page : slab_bytes;
    auto* const slab = static_cast<CellSlab*>(large ? memory::page_for_good() : memory::for_good(bytes));
    slab->next = cell_slabs;
    slab->count = (bytes - sizeof(CellSlab)) / sizeof(Cell);
    cell_slabs = slab;
    fresh_cells = slab->cells;
    fresh_end = fresh_cells + slab->count;
}

Cell* take_cell() {
    __atomic_store_n(&cells_in_use, cells_in_use + 1, __ATOMIC_RELAXED);
    if (Cell* const cell = free_cells; cell != nullptr) {
        free_cells = cell->next;
        return cell;
    }
    if (fresh_cells == fresh_end) make_cells();
    return fresh_cells++;
}

// A new one, locked.
Cell& begin_cell(std::uintptr_t key, CellKind kind) {
    Cell& cell = *take_cell();
    cell.lock.lock();
    cell.foreign = cell.message_is_write = cell.has_messages = cell.has_readers = cell.has_sc_clocks = false;
    if (kind == CellKind::synchronisation) {
        cell.object = static_cast<Object*>(memory::allocate(sizeof(Object)));
        *cell.object = {};
        cell.object->width = lanes;
    } else {
        cell.others = nullptr;
        cell.begin(0);
    }
    cell.key = key;
    return cell;
}

Cell* in_chain(Cell* chain, std::uintptr_t key) {
    while (chain != nullptr && chain->key != key) chain = chain->next;
    return chain;
}

// Takes the cell out of use; it is locked, and so is the table.
void retire(Cell& cell) {
    if (cell.kind() == CellKind::synchronisation) {
        cell.object->end();
        memory::release(cell.object, sizeof(Object));
    } else {
        cell.end();
        if (cell.others != nullptr) {
            cell.others->messages.release();
            cell.others->readers.release();
            ScClocks::release(cell.others->sc_clocks);
            memory::release(cell.others, sizeof(Others));
        }
    }
    if (cell.race_message.word != 0) forget_race_message(cell.race_message);
    __atomic_store_n(&cell.key, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&cells_in_use, cells_in_use - 1, __ATOMIC_RELAXED);
    cell.next = free_cells;
    free_cells = &cell;
}

void forget_granules(Region& region, std::uintptr_t begin, std::uintptr_t end) {
    constexpr std::uintptr_t granule = std::uintptr_t{1} << shadow::granule_bits;
    for (std::uintptr_t address = begin & ~(granule - 1); address < end; address += granule) {
        Cell** place = &region.granule(address);
        while (*place != nullptr) {
            Cell& cell = **place;
            if (cell.address() < begin || cell.address() >= end) {
                place = &cell.next;
                continue;
            }
            *place = cell.next;
            --region.cells_near(address);
            Locked held(cell.lock);
            retire(cell);
        }
    }
}

}  // namespace

void Object::widen_clocks() {
    std::uint32_t const wider = clock_width;
    Time* const moved = memory::allocate_array<Time>(std::size_t{clock_count} * wider);
    __builtin_memset(moved, 0, clock_count * wider * sizeof(Time));
    for (std::uint32_t i = 0; i < clock_count; ++i)
        copy(moved + std::size_t{i} * wider, clocks() + std::size_t{i} * width, width);
    release_wide_clocks();
    wide_clocks = moved;
    width = wider;
}

void Object::end() {
    release_wide_clocks();
    ScClocks::release(sc_clocks);
    releasers.release();
}

void Object::release_wide_clocks() {
    if (width > lanes) memory::release_array(wide_clocks, std::size_t{clock_count} * width);
}

Others& Cell::make_others() {
    if (others == nullptr) {
        others = static_cast<Others*>(memory::allocate(sizeof(Others)));
        *others = {};
    }
    return *others;
}

void Cell::begin_again(std::uint64_t initial) {
    if (foreign) return;
    keep_message();
    forget_readers();
    History::begin_again(initial);
}

void bring_in_step(Cell& x, bool created, std::uint64_t value, std::size_t size) {
    std::size_t const common = size < x.size ? size : x.size;
    x.size = static_cast<std::uint8_t>(size);
    if (created) return x.begin(value);
    std::uint64_t const different = x.value ^ value;
    if (common < 8 ? (different << (64 - 8 * common)) != 0 : different != 0) x.begin_again(value);
}

LockedCell::Found LockedCell::find(Thread& t, std::uintptr_t address, CellKind kind) {
    std::uintptr_t const key = key_of(address, kind);
    Region* region = t.regions.find(address);
    if (region == nullptr) region = shadow::make_region(address);
    if (region == nullptr) return {};
    Cell* near = __atomic_load_n(&region->granule(address), __ATOMIC_ACQUIRE);
    for (int followed = 0; near != nullptr && followed < 8; ++followed) {
        if (lock_if_it_is(near, key)) return {near, false};
        near = __atomic_load_n(&near->next, __ATOMIC_ACQUIRE);
    }
    bool is_first = false;  // of its page
    Found const found = [&]() -> Found {
        Locked held(table_lock);
        Cell*& chain = region->granule(address);
        if (Cell* const cell = in_chain(chain, key); cell != nullptr) {
            cell->lock.lock();
            return {cell, false};
        }
        Cell& cell = begin_cell(key, kind);
        cell.next = chain;
        __atomic_store_n(&chain, &cell, __ATOMIC_RELEASE);
        is_first = region->cells_near(address)++ == 0;
        return {&cell, true};
    }();
    if (is_first) shadow::expect_neighbours(*region, address);
    return found;
}

void forget_range(std::uintptr_t begin, std::size_t bytes) {
    std::uintptr_t const end = begin + bytes;
    for (std::uintptr_t page = begin, page_end; page < end; page = page_end) {
        Region* const region = shadow::find_region(page);
        std::uintptr_t const unit = region == nullptr ? shadow::region_bytes : shadow::page_bytes;
        std::uintptr_t const next = (page & ~(unit - 1)) + unit;
        page_end = next < end ? next : end;
        if (region == nullptr || __atomic_load_n(&region->cells_near(page), __ATOMIC_RELAXED) == 0) continue;
        Locked held(table_lock);
        forget_granules(*region, page, page_end);
    }
}

void forget_memory(void const volatile* begin, std::size_t bytes) {
    Hook hook;
    if (hook) forget_range(reinterpret_cast<std::uintptr_t>(begin), bytes);
}

}  // namespace fencepost
