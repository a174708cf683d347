#include "locations.hpp"

#include "memory.hpp"
#include "shadow.hpp"

namespace holdfast {

CellSlab* cell_slabs;

namespace {

using shadow::Region;

Lock table_lock;  // guards chains and free cells; only taken where a cell comes or goes
Cell* free_cells;

void make_cells() {
    auto* const slab = static_cast<CellSlab*>(memory::for_good(sizeof(CellSlab)));
    slab->next = cell_slabs;
    cell_slabs = slab;
    for (Cell& cell : slab->cells) {
        cell.next = free_cells;
        free_cells = &cell;
    }
}

Cell* in_chain(Cell* chain, std::uintptr_t key) {
    while (chain != nullptr && chain->key != key) chain = chain->next;
    return chain;
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

void Cell::widen_clocks() {
    auto const wider = static_cast<std::uint16_t>(clock_width);
    Time* const moved = memory::allocate_array<Time>(std::size_t{clock_count} * wider);
    __builtin_memset(moved, 0, clock_count * wider * sizeof(Time));
    for (std::uint32_t i = 0; i < clock_count; ++i)
        copy(moved + std::size_t{i} * wider, clocks() + std::size_t{i} * width, width);
    release_clocks();
    wide_clocks = moved;
    width = wider;
}

void Cell::release_clocks() {
    if (width > lanes) memory::release_array(wide_clocks, std::size_t{clock_count} * width);
}

// Takes the cell out of use; it is locked, and so is the table.
void retire(Cell& cell) {
    cell.history.end();
    races::forget(cell.told);
    cell.release_clocks();
    __atomic_store_n(&cell.key, 0, __ATOMIC_RELAXED);
    cell.next = free_cells;
    free_cells = &cell;
}

void Cell::begin_again(std::uint64_t value) {
    if (foreign) return;
    history.begin_again(value);
    writer_knew_message = false;
    seen.forget_changes();
    __builtin_memset(write_sc(), 0, 2 * width * sizeof(Time));
}

void bring_in_step(LockedCell& x, std::uint64_t value, std::size_t size) {
    if (x.created()) {
        x->size = static_cast<std::uint8_t>(size);
        return x->history.begin(value);
    }
    std::size_t const common = size < x->size ? size : x->size;
    x->size = static_cast<std::uint8_t>(size);
    std::uint64_t const different = x->history.value() ^ value;
    if (common < 8 ? (different << (64 - 8 * common)) != 0 : different != 0) x->begin_again(value);
}

void LockedCell::find(std::uintptr_t address, CellKind kind) {
    Locked held(table_lock);
    Region* const region = shadow::make_region(address);
    if (region == nullptr) return;
    Cell*& chain = region->granule(address);
    Cell* cell = in_chain(chain, key_of(address, kind));
    created_ = cell == nullptr;
    if (created_) {
        if (free_cells == nullptr) make_cells();
        cell = free_cells;
        free_cells = cell->next;
        prefetch(free_cells);  // for whoever makes the next one
        cell->lock.lock();
        cell->foreign = cell->writer_knew_message = false;
        cell->width = lanes;
        cell->forget_clocks();
        cell->seen = {};
        cell->last_access = cell->last_write = {};
        cell->last_writer = 0;
        cell->key = key_of(address, kind);
        cell->next = chain;
        __atomic_store_n(&chain, cell, __ATOMIC_RELEASE);
        ++region->cells_near(address);
    } else {
        cell->lock.lock();
    }
    cell_ = cell;
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

}  // namespace holdfast
