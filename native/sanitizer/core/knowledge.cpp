#include "sanitizer/core/knowledge.hpp"

#include "sanitizer/core/locations.hpp"
#include "sanitizer/core/threads.hpp"
#include "sanitizer/system/memory.hpp"

namespace fencepost {

std::int64_t record_count;

namespace {

// Everybody knows all times of the oldest record, that is, up to the next one.
void drop_known_to_all(Records& records, Slot slot) {
    Time const known = __atomic_load_n(&known_to_all[slot], __ATOMIC_RELAXED);
    while (records.oldest != records.newest && records.oldest->next->from <= known + 1) {
        Record* const dropped = records.oldest;
        records.oldest = dropped->next;
        dropped->next = records.free;
        records.free = dropped;
    }
}

Record* allocate_record(std::uint32_t width, bool has_sc_clocks) {
    __atomic_fetch_add(&record_count, 1, __ATOMIC_RELAXED);
    auto* const record = static_cast<Record*>(memory::allocate(Record::bytes(width, has_sc_clocks)));
    record->width = static_cast<std::uint16_t>(width);
    record->has_sc_clocks = has_sc_clocks;
    return record;
}

// Those of another size are left to the collector: only while the world stands still is it certain that
// nobody looks at them any more.
Record* take_free(Records& records, std::uint32_t width, bool has_sc_clocks) {
    Record* const record = records.free;
    if (record == nullptr || record->width != width || record->has_sc_clocks != has_sc_clocks)
        return allocate_record(width, has_sc_clocks);
    records.free = record->next;
    return record;
}

void copy_sc_clocks(Record& record, Thread const& t) {
    ScLanes const used = record.sc_lanes = sc_lanes(record.width);
    ScClocks& clocks = *t.sc_clocks;
    copy(record.message(message_p), clocks[strongly_before], used);
    if (record.after_fence) copy(record.message(message_f), clocks[fences_before], used);
    if (record.after_eco) copy(record.message(message_e), clocks[eco_before], used);
}

}  // namespace

void release_record(Record* record) {
    __atomic_fetch_sub(&record_count, 1, __ATOMIC_RELAXED);
    memory::release(record, Record::bytes(record->width, record->has_sc_clocks));
}

void make_record(Thread& t) {
    Records& records = t.records;
    drop_known_to_all(records, t.slot);
    bool const has_sc_clocks = t.sc_clocks != nullptr;
    std::uint32_t const width =
        has_sc_clocks ? ScClocks::ready(t.sc_clocks, thread_clocks).width() : clock_width;
    Record* const record = take_free(records, width, has_sc_clocks);
    record->next = nullptr;
    record->from = t.time;
    record->thread = t.id;
    record->provenance = t.provenance;
    record->links = t.provenance->made;
    record->fences = t.provenance->fences;
    copy(record->current(), t.current, width);
    copy(record->sc(), t.sc, width);
    record->current()[t.slot] = record->sc()[t.slot] = 0;
    record->after_fence = t.after_fence;
    record->after_eco = t.after_eco;
    record->own_fences = 0;
    if (has_sc_clocks) copy_sc_clocks(*record, t);
    (records.newest == nullptr ? records.oldest : records.newest->next) = record;
    records.newest = record;
    t.stamp_word = Stamp::word_of(t.slot, record);
    t.has_learned = t.has_new_sc_clocks = false;
}

template <class Entry>
typename Stamps<Entry>::List* Stamps<Entry>::make(std::uint32_t least) {
    std::size_t const bytes = memory::usable(sizeof(List) + least * sizeof(Entry));
    auto* const list = static_cast<List*>(memory::allocate(bytes));
    list->count = 0;
    list->capacity = static_cast<std::uint32_t>((bytes - sizeof(List)) / sizeof(Entry));
    return list;
}

template <class Entry>
void Stamps<Entry>::add(Entry const& entry) {
    if (list_ == nullptr) list_ = make(2);
    if (list_->count == list_->capacity) {
        List* const larger = make(list_->capacity + 1);
        for (Entry const& old : all()) larger->entries[larger->count++] = old;
        release();
        list_ = larger;
    }
    list_->entries[list_->count++] = entry;
}

template <class Entry>
void Stamps<Entry>::release() {
    if (list_ != nullptr) memory::release(list_, sizeof(List) + list_->capacity * sizeof(Entry));
    list_ = nullptr;
}

template class Stamps<Stamp>;
template class Stamps<Reader>;
template class Stamps<Moment>;

}  // namespace fencepost
