#include "sanitizer/core/weak_memory.hpp"

#include <new>

#include "sanitizer/core/ordinary.hpp"
#include "sanitizer/core/sc_order.hpp"
#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/row.hpp"

namespace fencepost::weak {

bool on, has_read_old;

namespace {

using LocationId = std::uint32_t;
using Place = std::uint32_t;  // in the modification order of a location; the first write known is 0

constexpr LocationId most_locations = 1 << 14;
constexpr std::size_t most_view_bytes = std::size_t{1} << 29;  // of all views together
constexpr std::uint32_t most_writes = most_choices;            // of a location, kept

// What a thread knows, or a message tells. Several may hold one; it is changed by its only holder.
struct View {
    std::uint32_t holders, width;
    ScEvents strongly, fences;  // P and F
    Place known[];              // C, by location

    Place of(LocationId x) const { return x < width ? known[x] : 0; }
    static std::size_t bytes(std::uint32_t width) { return sizeof(View) + width * sizeof(Place); }
};

std::uint32_t locations_made;
std::size_t view_bytes;

View* share(View* view) {
    if (view != nullptr) ++view->holders;
    return view;
}

void let_go(View* view) {
    if (view == nullptr || --view->holders != 0) return;
    view_bytes -= View::bytes(view->width);
    memory::release(view, View::bytes(view->width));
}

void replace(View*& view, View* by) {
    let_go(view);
    view = by;
}

// The view for changing it, with room for all locations.
View& own(View*& view) {
    if (view != nullptr && view->holders == 1 && view->width >= locations_made) return *view;
    std::uint32_t const width = (locations_made + 16) & ~15u;
    auto* const copy = static_cast<View*>(memory::allocate(View::bytes(width)));
    std::uint32_t const known = view == nullptr ? 0 : view->width;
    copy->holders = 1;
    copy->width = width;
    copy->strongly = view == nullptr ? ScEvents{} : view->strongly;
    copy->fences = view == nullptr ? ScEvents{} : view->fences;
    for (std::uint32_t i = 0; i < width; ++i) copy->known[i] = i < known ? view->known[i] : 0;
    view_bytes += View::bytes(width);
    if (view_bytes > most_view_bytes) stop();
    replace(view, copy);
    return *copy;
}

void learn(View*& view, LocationId x, Place place) {
    if (view == nullptr || view->of(x) < place) own(view).known[x] = place;
}

void join(View*& into, View* from) {
    if (from == nullptr || from == into) return;
    if (into == nullptr) {
        into = share(from);
        return;
    }
    View& joined = own(into);
    joined.strongly.add_all(from->strongly);
    joined.fences.add_all(from->fences);
    for (std::uint32_t i = 0; i < from->width; ++i)
        if (joined.known[i] < from->known[i]) joined.known[i] = from->known[i];
}

ScEvents const& strongly(View const* view) {
    static constexpr ScEvents none{};
    return view == nullptr ? none : view->strongly;
}
ScEvents const& fences(View const* view) {
    static constexpr ScEvents none{};
    return view == nullptr ? none : view->fences;
}

// C, A and R of a thread.
struct ThreadViews {
    View* current;
    View* pending;
    View* released;
};

struct Write {
    Value value;
    std::uint32_t stack;
    View* message;
    RaceMessage race_message;
    ScEvents own;       // itself if it is seq_cst, and its F
    ScEvents by_reads;  // the same of those that read it
    ScEvents accesses;  // itself and those that read it, if seq_cst
};

// An SC fence, and what it knew.
struct Fence {
    std::uint32_t event;
    View* view;
};

}  // namespace

// Or an object that synchronises as a whole: then it has only a view.
class Location {
  public:
    std::uintptr_t key;
    LocationId id;
    std::uint32_t size;  // of accesses
    Place first;         // of the oldest write kept
    Row<Write> writes;
    ScEvents dropped;  // own and by_reads of older writes
    View* object;

    Place newest() const { return first + static_cast<Place>(writes.size()) - 1; }
    Write& at(Place place) { return writes[place - first]; }
    Write const& at(Place place) const { return writes[place - first]; }

    // What is eco-before an access that reads the write at this place; or, not counting that, makes it.
    ScEvents eco_before(Place place, bool reads_it) const {
        ScEvents all = dropped;
        for (Place i = first; i < place; ++i) {
            all.add_all(at(i).own);
            all.add_all(at(i).by_reads);
        }
        if (reads_it) all.add_all(at(place).own);
        return all;
    }

    void add(Write const& write) {
        if (writes.size() == most_writes) drop_oldest();
        writes.add(write);
    }
    void drop_oldest() {
        Write& oldest = writes[0];
        dropped.add_all(oldest.own);
        dropped.add_all(oldest.by_reads);
        let_go(oldest.message);
        if (oldest.race_message.word != 0) forget_race_message(oldest.race_message);
        writes.remove(0);
        ++first;
    }
};

namespace {

struct State {
    Row<ThreadViews> threads;  // by number
    Row<Fence> sc_fences;      // all of them; the first one may stand for those of the past
    Row<Location*> by_id;
    Location** table = nullptr;  // by key, open addressing
    std::size_t table_size = 0;
};
State* state;

ThreadViews& views_of(std::uint32_t thread) {
    while (state->threads.size() <= thread) state->threads.add({});
    return state->threads[thread];
}
ThreadViews& views_of(Thread const& t) {
    return views_of(t.id);
}

Location** slot_of(Location** table, std::size_t size, std::uintptr_t key) {
    std::size_t i = (key * 0x9e3779b97f4a7c15u >> 20) & (size - 1);
    while (table[i] != nullptr && table[i]->key != key) i = (i + 1) & (size - 1);
    return &table[i];
}

void enlarge_table() {
    std::size_t const size = state->table_size == 0 ? 256 : 2 * state->table_size;
    auto** const table = static_cast<Location**>(memory::pages(size * sizeof(Location*)));
    for (Location* x : state->by_id) *slot_of(table, size, x->key) = x;
    if (state->table != nullptr) memory::give_back(state->table, state->table_size * sizeof(Location*));
    state->table = table;
    state->table_size = size;
}

// Null if there are too many.
Location* find_or_make(std::uintptr_t key) {
    if (state->by_id.size() * 2 >= state->table_size) enlarge_table();
    Location** const slot = slot_of(state->table, state->table_size, key);
    if (*slot != nullptr) return *slot;
    if (locations_made == most_locations) {
        stop();
        return nullptr;
    }
    auto* const x = new (memory::allocate(sizeof(Location))) Location{};
    x->key = key;
    x->id = locations_made++;
    state->by_id.add(x);
    return *slot = x;
}

// The location holds a value that no write here has left there: nobody can read what was before.
void begin_anew(Location& x, bool created, Value value, std::size_t size, RaceMessage const& race_message) {
    View* const message = created || x.writes.empty() ? nullptr : share(x.at(x.newest()).message);
    while (!x.writes.empty()) x.drop_oldest();
    if (created) x.dropped = {};
    x.size = static_cast<std::uint32_t>(size);
    Write write{};
    write.value = value;
    write.message = message;
    write.race_message = copy_race_message(race_message);
    x.add(write);
}

void make_room_for_event() {
    if (!make_room_for_sc_event()) return;
    View* all = nullptr;
    for (Fence const& fence : state->sc_fences) {
        join(all, fence.view);
        let_go(fence.view);
    }
    state->sc_fences.clear();
    if (all != nullptr) state->sc_fences.add({past_event, all});
}

// P of what comes after the event.
void note_event(ThreadViews& t, std::uint32_t event) {
    own(t.current).strongly.add(event);
    own(t.pending).strongly.add(event);
}

// Who would come after a read of the write at this place, if there are newer ones: their accesses, and the
// fences that happen after one of these.
ScEvents after_read(Location const& x, Place place) {
    ScEvents after{};
    for (Place i = place + 1; i <= x.newest(); ++i) after.add_all(x.at(i).accesses);
    for (Fence const& fence : state->sc_fences)
        if (fence.view->of(x.id) > place) after.add(fence.event);
    return after;
}

// Who must come before the read itself, if it is seq_cst.
ScEvents before_sc_read(ThreadViews const& t, Location const& x, Place place) {
    ScEvents before = strongly(t.current);
    before.add_all(x.eco_before(place, true));
    return before;
}

// Who must come before those that come after the read: its F, with what it acquires, and itself; here, what
// must come before it.
ScEvents before_later_ones(ThreadViews const& t, Location const& x, Order order, Place place) {
    ScEvents before = fences(t.current);
    if (acquires(order)) before.add_all(fences(x.at(place).message));
    if (order == Order::seq_cst) before.add_all(before_sc_read(t, x, place));
    return with_all_before(before);
}

// Of an execution before.
void forget_all() {
    for (ThreadViews& t : state->threads)
        for (View* view : {t.current, t.pending, t.released}) let_go(view);
    for (Fence const& fence : state->sc_fences) let_go(fence.view);
    for (Location* x : state->by_id) {
        while (!x->writes.empty()) x->drop_oldest();
        let_go(x->object);
        x->~Location();
        memory::release(x, sizeof(Location));
    }
    if (state->table != nullptr) memory::give_back(state->table, state->table_size * sizeof(Location*));
    state->~State();
    locations_made = 0;
}

}  // namespace

void start() {
    start_sc_order();
    if (state != nullptr)
        forget_all();
    else
        state = static_cast<State*>(memory::for_good(sizeof(State)));
    new (state) State;
    on = true;
    run_is_ordinary = false;
}

void stop() {
    on = false;
}

Location* locate(LockedCell const& cell, std::uintptr_t address, Value newest, std::size_t size) {
    Location* const x = find_or_make(key_of(address, CellKind::atomic));
    if (x == nullptr) return nullptr;
    if (cell.created() || x->writes.empty() || x->size != size || x->at(x->newest()).value != newest)
        begin_anew(*x, cell.created(), newest, size, cell->race_message);
    return x;
}

void find_choices(Thread const& thread, Location const& x, Order order, Choices& choices) {
    if (order == Order::seq_cst) make_room_for_event();  // now, since it may forbid some
    ThreadViews const& t = views_of(thread);
    choices.count = 0;
    choices.age[choices.count++] = 0;
    Place const bound = t.current == nullptr ? 0 : t.current->of(x.id);
    for (Place place = x.newest(); place > bound && place > x.first;) {
        --place;
        if (may_come_before(before_later_ones(t, x, order, place), after_read(x, place)))
            choices.age[choices.count++] = x.newest() - place;
    }
}

void find_choices_to_fail(Thread const& thread, Location const& x, Order failure, Value expected,
                          Choices& choices) {
    find_choices(thread, x, failure, choices);
    std::uint32_t left = 1;
    for (std::uint32_t i = 1; i < choices.count; ++i)
        if (x.at(x.newest() - choices.age[i]).value != expected) choices.age[left++] = choices.age[i];
    choices.count = left;
}

void find_missed(Location const& x, std::uint32_t age, MissedWrites& missed) {
    missed.count = age;
    for (std::uint32_t i = 0; i < age; ++i) missed.stack[i] = x.at(x.newest() - i).stack;
}

ReadWrite read(Thread const& thread, Location& x, Order order, std::uint32_t age) {
    bool const sc = order == Order::seq_cst;
    if (sc) make_room_for_event();
    ThreadViews& t = views_of(thread);
    Place const place = x.newest() - age;
    Write& w = x.at(place);
    ScEvents before_others = before_later_ones(t, x, order, place);
    std::uint32_t event = 0;
    if (sc) {
        event = add_sc_event(before_sc_read(t, x, place));
        before_others.add(event);
    }
    if (age != 0) put_before(before_others, after_read(x, place));
    join(t.pending, w.message);
    if (acquires(order)) join(t.current, w.message);
    learn(t.pending, x.id, place);
    learn(t.current, x.id, place);
    w.by_reads.add_all(fences(t.current));
    if (sc) {
        w.by_reads.add(event);
        w.accesses.add(event);
        note_event(t, event);
    }
    return {w.value, &w.race_message};
}

void write(Thread const& thread, Location& x, Order order, NewWrite const& write,
           RaceMessage const& race_message) {
    bool const sc = order == Order::seq_cst, is_rmw = write.is_rmw;
    if (sc) make_room_for_event();
    ThreadViews& t = views_of(thread);
    Place const place = x.newest() + 1;
    View* const replaced = is_rmw ? x.at(x.newest()).message : nullptr;
    ScEvents before{};
    if (sc) {
        before = strongly(t.current);
        before.add_all(x.eco_before(x.newest(), true));
        before.add_all(x.at(x.newest()).by_reads);
    }
    if (is_rmw) {
        join(t.pending, replaced);
        if (acquires(order)) join(t.current, replaced);
    }
    learn(t.pending, x.id, place);
    learn(t.current, x.id, place);
    Write made{};
    made.value = write.value;
    made.stack = write.stack;
    made.message = share(releases(order) ? t.current : t.released);
    if (is_rmw) join(made.message, replaced);
    made.race_message = copy_race_message(race_message);
    made.own = fences(t.current);
    if (sc) {
        std::uint32_t const event = add_sc_event(before);
        made.own.add(event);
        made.accesses.add(event);
        x.add(made);
        note_event(t, event);
        return;
    }
    x.add(made);
}

void fence(Thread const& thread, Order order) {
    bool const sc = order == Order::seq_cst;
    if (sc) make_room_for_event();
    ThreadViews& t = views_of(thread);
    ScEvents before = strongly(t.current);
    if (acquires(order)) join(t.current, t.pending);
    std::uint32_t event = 0;
    if (sc) {
        View const& known = own(t.current);
        for (Location const* x : state->by_id)
            if (Place const place = known.of(x->id); !x->writes.empty() && place >= x->first)
                before.add_all(x->eco_before(place, true));
            else
                before.add_all(x->dropped);
        event = add_sc_event(before);
        own(t.current).fences.add(event);
        own(t.pending).fences.add(event);
    }
    if (releases(order)) replace(t.released, share(t.current));
    if (!sc) return;
    state->sc_fences.add({event, share(t.current)});
    note_event(t, event);
}

void acquire_object(Thread const& thread, Cell const& cell) {
    Location const* const x = find_or_make(cell.key);
    if (x == nullptr) return;
    ThreadViews& t = views_of(thread);
    join(t.current, x->object);
    join(t.pending, x->object);
}

void release_object(Thread const& thread, Cell const& cell) {
    if (Location* const x = find_or_make(cell.key); x != nullptr) join(x->object, views_of(thread).current);
}

void thread_made(Thread const& parent, Thread const& child) {
    View* const known = views_of(parent).current;
    ThreadViews& t = views_of(child);
    replace(t.current, share(known));
    replace(t.pending, share(known));
    replace(t.released, nullptr);
}

void learn_from(Thread const& thread, Thread const& other) {
    View* const known = share(views_of(other).current);
    ThreadViews& t = views_of(thread);
    join(t.current, known);
    join(t.pending, known);
    let_go(known);
}

void thread_joined(Thread const& thread, Thread const& child) {
    learn_from(thread, child);
    ThreadViews& ended = views_of(child);
    for (View** view : {&ended.current, &ended.pending, &ended.released}) replace(*view, nullptr);
}

}  // namespace fencepost::weak
