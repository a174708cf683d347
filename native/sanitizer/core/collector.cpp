// Keeps memory bounded however long a program runs: drops the steps that no clock can tell from later ones.
//
// Only the order of a slot's times matters, and of those only the ones that some clock holds. For each slot
// v: let m be what every thread knows of v as C (then also as SC, and whatever is joined to it changes
// nothing below m); all values up to m become 0, the others are numbered anew in their order. A step gets the
// number of the smallest value at which it is known. Steps at 0 are known to everybody; of the steps of one
// slot with the same number only the last one counts (history.hpp).
//
// Work is proportional to clocks and steps. Most locations drop by themselves what all threads know
// (history.hpp), and have room for the steps that are left. So this is only done when that room has grown by
// as much as the work, which is where some thread learns nothing for long; and when times grow large. It is
// not done for the few steps that many locations have, each of them.
#include <utility>

#include "sanitizer/core/locations.hpp"
#include "sanitizer/core/robustness.hpp"
#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/options.hpp"
#include "sanitizer/system/row.hpp"

namespace fencepost {
namespace {

constexpr std::uint32_t free_per_slot = 256;  // records
constexpr Time least_time = 1 << 24;          // few enough for a bit each, far from the largest number
constexpr std::uint32_t steps_per_look = 32;  // and slot: how often to find out what all threads know
constexpr std::int64_t few_steps = 8;         // of one location: take twice the room of the location itself

std::int64_t room_due = 1 << 12;
std::int64_t records_due = 1 << 12;
Time time_due = least_time;
std::uint32_t asked;  // somebody is about to collect
std::uint32_t steps_since_look;

// The processor's instruction is not everywhere, and the compiler's function for it is not ours.
constexpr int count_bits(std::uint64_t word) {
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return static_cast<int>(word * 0x0101010101010101u >> 56);
}

// The values of one slot that some clock holds, above what everybody knows.
struct Values {
    Time known_to_all;
    Time newest;
    std::uint64_t* bits;   // bit i: the value known_to_all + 1 + i is held
    std::uint32_t* ranks;  // per word: values held in the words before it
    std::size_t words;

    void hold(Time value) {
        if (value <= known_to_all) return;
        auto const i = static_cast<std::size_t>(value - known_to_all - 1);
        bits[i / 64] |= std::uint64_t{1} << (i % 64);
    }
    void count() {
        std::uint32_t sum = 0;
        for (std::size_t w = 0; w < words; ++w) {
            ranks[w] = sum;
            sum += static_cast<std::uint32_t>(count_bits(bits[w]));
        }
    }
    // How many values below or equal to this one are held.
    Time renamed(Time value) const {
        if (value <= known_to_all) return 0;
        auto const i = static_cast<std::size_t>(value - known_to_all - 1);
        std::uint64_t const below = bits[i / 64] & (~std::uint64_t{0} >> (63 - i % 64));
        return static_cast<Time>(ranks[i / 64]) + count_bits(below);
    }
    // The number of the smallest value held at which a step of this time is known.
    Time renamed_step(Time time) const {
        if (time <= known_to_all) return 0;
        return renamed(time - 1) + 1;
    }
};

// The fewest steps or records that are worth a collection: stopping the world takes longer with more threads,
// because some of them may wait for a processor.
std::int64_t worth_a_stop() {
    std::int64_t const few = std::int64_t{slot_count} * slot_count << 9, most = 1 << 14;
    return few < most ? few : most;
}

// Room for enough steps to be worth the work, but not so many that their memory matters.
std::int64_t room_between(std::int64_t work) {
    std::int64_t const worthwhile = 4 * work, bearable = (1 << 17) + work;
    return worth_a_stop() + (worthwhile < bearable ? worthwhile : bearable);
}

template <class Action>
void for_all_threads(Action action) {
    for (Thread* t = all_threads; t != nullptr; t = t->next)
        if (t->state != Thread::State::unused) action(*t);
}

// Calls action(records, slot).
template <class Action>
void for_all_records(Action action) {
    for (Slot s = 0; s < slot_count; ++s)
        action(slots[s].owner != nullptr ? slots[s].owner->records : slots[s].records, s);
}

template <class Action>
void for_stamps_of(Cell& cell, Action action) {
    action(cell.written);
    action(cell.read);
    for (Reader& reader : cell.more_readers()) action(reader.stamp);
    if (!cell.has_messages) return;
    action(cell.message);
    for (Stamp& stamp : cell.more_messages()) action(stamp);
}

class Collection {
  public:
    Collection()
        : values_(memory::allocate_array<Values>(clock_width)),
          known_(memory::allocate_array<Time>(clock_width)) {
        __builtin_memset(static_cast<void*>(values_), 0, clock_width * sizeof(Values));
        __builtin_memset(known_, 0, clock_width * sizeof(Time));
        find_known_to_all();
        for (Slot s = 0; s < slot_count; ++s) prepare(s);
    }
    ~Collection() {
        for (Slot s = 0; s < slot_count; ++s) {
            memory::release_array(values_[s].bits, values_[s].words);
            memory::release_array(values_[s].ranks, values_[s].words);
        }
        memory::release_array(values_, clock_width);
        memory::release_array(known_, clock_width);
    }

    void run() {
        hold_stamps();
        drop_records();
        for_all_clocks([&](Slot s, Time& time) { values_[s].hold(time); });
        for (Slot s = 0; s < slot_count; ++s) {
            values_[s].hold(values_[s].newest);
            values_[s].count();
        }
        for_all_clocks([&](Slot s, Time& time) { time = values_[s].renamed(time); });
        __builtin_memset(known_to_all, 0, clock_width * sizeof(Time));
        rename_stamps_and_steps();
        for_all_records([&](Records& records, Slot s) {
            for (Record* r = records.oldest; r != nullptr; r = r->next)
                r->from = values_[s].renamed_step(r->from);
        });
        auto const renamed = [&](Slot s, Time time) {  // of slots that have begun anew too
            return s < slot_count && time <= values_[s].newest ? values_[s].renamed(time) : 0;
        };
        rename_provenance(all_provenance, renamed);
        for (Cell* cell : with_clocks_)
            if (cell->kind() == CellKind::synchronisation)
                for (Moment& release : cell->object->releasers.all())
                    release.time = renamed(release.slot, release.time);
        for (Slot s = 0; s < slot_count; ++s) rename_slot(s);
        room_due = room_elsewhere + room_between(work_ + work_per_cell * cells_);
        records_due = 2 * record_count + worth_a_stop();
    }

  private:
    // Nobody asks for what everybody knows.
    void hold(Stamp& stamp) {
        Values& values = values_[stamp.slot()];
        if (stamp.time() <= values.known_to_all) {
            stamp = {};
            return;
        }
        values.hold(stamp.time());
        // Whom it tells of marked steps and fences.
        if (stamp.record().has_sc_clocks) values.hold(stamp.time() - 1);
        stamp.record().held = true;
    }
    void hold_stamps() {
        for_all_records([](Records& records, Slot) {
            for (Record* r = records.oldest; r != nullptr; r = r->next) r->held = r == records.newest;
        });
        for_all_threads([&](Thread& t) { hold(t.release); });
        for_all_cells([&](Cell& cell) {
            ++cells_;
            bool const is_atomic = cell.kind() == CellKind::atomic;
            if (!is_atomic || cell.has_sc_clocks) with_clocks_.add(&cell);
            if (is_atomic) for_stamps_of(cell, [&](Stamp& stamp) { hold(stamp); });
        });
    }
    // Some are kept for the next ones that the thread makes.
    static void drop_records() {
        for_all_records([](Records& records, Slot) {
            Record* dropped = std::exchange(records.free, nullptr);
            for (Record** place = &records.oldest; *place != nullptr;) {
                Record* const record = *place;
                if (record->held) {
                    place = &record->next;
                } else {
                    *place = record->next;
                    record->next = dropped;
                    dropped = record;
                }
            }
            for (std::uint32_t kept = 0; dropped != nullptr; ++kept) {
                Record* const record = dropped;
                dropped = record->next;
                if (kept >= free_per_slot || record->width != clock_width) {
                    release_record(record);
                } else {
                    record->next = records.free;
                    records.free = record;
                }
            }
        });
    }

    // Does not everybody know all of these times? Else they become 0.
    bool is_news(Time* times, Slot first) const {
        detail::Vector const now = detail::load(times), zero{};
        if (detail::any(now > detail::load(known_ + first))) return true;
        if (detail::any(now != zero)) detail::store(times, zero);
        return false;
    }

    // Calls action(slot, time) for all times in clocks but those that everybody knows, which become 0.
    template <class Action>
    void for_all_clocks(Action action) {
        auto const all_of = [&](Time* clock, std::uint32_t width) {
            bool news = false;
            for (std::uint32_t from = 0; from < width; from += detail::vector_lanes) {
                if (!is_news(clock + from, from)) continue;
                for (Slot s = from; s < from + detail::vector_lanes; ++s) action(s, clock[s]);
                news = true;
            }
            work_ += width;
            return news;
        };
        auto const all_of_sc = [&](ScClock clock, ScLanes used) {
            bool const accesses = used.begin == 0 && all_of(clock.accesses, clock.width),
                       writes = used.end > clock.width && all_of(clock.writes(), clock.width);
            return accesses || writes;
        };
        auto const all_of_these = [&](ScClocks* clocks) {
            bool news = false;
            for (std::uint32_t i = 0; clocks != nullptr && i < clocks->count(); ++i)
                news = all_of_sc((*clocks)[i], (*clocks)[i].lanes()) || news;
            return news;
        };
        for_all_threads([&](Thread& t) {
            for (Time* clock : {t.current, t.acquire, t.sc}) all_of(clock, clock_width);
            all_of_these(t.sc_clocks);
        });
        for_all_records([&](Records& records, Slot s) {
            for (Record* r = records.oldest; r != nullptr; r = r->next) {
                all_of(r->current(), r->width);
                all_of(r->sc(), r->width);
                for (MessageClock const which : {message_p, message_f, message_e})
                    if (r->has(which)) all_of_sc(r->message(which), r->sc_lanes);
                for (std::uint8_t i = 0; i < r->own_fences; ++i) action(s, r->own_fence_times[i]);
            }
        });
        for (Cell* cell : with_clocks_) {
            if (cell->kind() == CellKind::synchronisation) {
                all_of(cell->object->current(), cell->object->width);
                all_of(cell->object->sc(), cell->object->width);
                all_of_these(cell->object->sc_clocks);
            } else if (cell->has_sc_clocks && !all_of_these(cell->others->sc_clocks)) {
                cell->forget_sc_clocks();  // all 0
            }
        }
    }

    void rename(Stamp& stamp) { stamp.rename(values_[stamp.slot()].renamed(stamp.time())); }
    void rename_stamps_and_steps() {
        for_all_threads([&](Thread& t) {
            rename(t.release);
            t.await.reader = {};
        });
        for_all_cells([&](Cell& cell) {
            if (cell.kind() == CellKind::synchronisation) return;
            for_stamps_of(cell, [&](Stamp& stamp) { rename(stamp); });
            work_ += cell.compact([&](Slot slot, Time time) { return values_[slot].renamed_step(time); });
        });
    }

    void prepare(Slot s) {
        Values& v = values_[s];
        v.newest = slots[s].owner != nullptr ? slots[s].owner->time : slots[s].dead ? slots[s].last : 0;
        v.known_to_all = known_[s] = v.newest < known_to_all[s] ? v.newest : known_to_all[s];
        v.words = static_cast<std::size_t>(v.newest - v.known_to_all) / 64 + 1;
        v.bits = memory::allocate_array<std::uint64_t>(v.words);
        v.ranks = memory::allocate_array<std::uint32_t>(v.words);
        __builtin_memset(v.bits, 0, v.words * sizeof(std::uint64_t));
    }
    void rename_slot(Slot s) {
        auto& slot = slots[s];
        if (slot.owner != nullptr) {
            Time const time = slot.owner->time = values_[s].renamed(slot.owner->time);
            if (time_due < least_time + 2 * time) time_due = least_time + 2 * time;
        } else if (slot.dead) {
            slot.last = values_[s].renamed(slot.last);
            slot.last_marked = values_[s].renamed_step(slot.last_marked);
            slot.dead = slot.last != 0;
        }
    }

    Values* values_;
    Time* known_;                                      // to all, as the values have it
    static constexpr std::int64_t work_per_cell = 16;  // in the same unit as a step
    std::int64_t work_ = 0, cells_ = 0;
    Row<Cell*> with_clocks_;  // synchronisation objects, and atomics in S: there may be few among many cells
};

}  // namespace

void collect() {
    StoppedWorld stopped;
    time_due = least_time;
    Collection().run();
    __atomic_store_n(&asked, 0, __ATOMIC_RELAXED);
}

namespace {

// Where cells come, each may hold steps and a record of its own: then there is little to drop.
bool is_memory_due() {
    auto const cells = static_cast<std::int64_t>(__atomic_load_n(&cells_in_use, __ATOMIC_RELAXED));
    return __atomic_load_n(&room_elsewhere, __ATOMIC_RELAXED) >= room_due + few_steps * cells ||
           __atomic_load_n(&record_count, __ATOMIC_RELAXED) >= records_due + cells;
}

}  // namespace

bool note_steps(Thread& t) {
    std::uint32_t const steps = __atomic_add_fetch(&steps_since_look, t.unreported_steps, __ATOMIC_RELAXED);
    t.unreported_steps = 0;
    memory::prepare_page();
    if (steps >= steps_per_look * slot_count) {
        Locked held(threads_lock);
        __atomic_store_n(&steps_since_look, 0, __ATOMIC_RELAXED);
        find_known_to_all();
    }
    bool const due = is_memory_due() || t.time >= time_due;
    return due && __atomic_exchange_n(&asked, 1, __ATOMIC_RELAXED) == 0;
}

}  // namespace fencepost
