#include "sanitizer/core/sc_provenance.hpp"

#include "sanitizer/core/threads.hpp"

namespace fencepost {

void learn_by(ScProvenance& links, Link const& link, Time* into, Time const* from, std::uint32_t width) {
    std::uint32_t const number = ++links.made;
    links.last[number % ScProvenance::size] = link;
    for (std::uint32_t i = 0; i < width; ++i) {
        bool const newer = from[i] > into[i];
        into[i] = newer ? from[i] : into[i];
        links.raised_by[i] = newer ? number : links.raised_by[i];
    }
}

namespace {

// Null if it is forgotten.
Link const* find_link(ScProvenance const& links, std::uint32_t number) {
    bool const remembered = number != 0 && links.made - number < ScProvenance::size;
    return remembered ? &links.last[number % ScProvenance::size] : nullptr;
}

Thread const* find_by_id(std::uint32_t id) {
    Thread const* t = __atomic_load_n(&all_threads, __ATOMIC_ACQUIRE);
    while (t != nullptr && (t->id != id || t->state == Thread::State::unused)) t = t->next;
    return t;
}

}  // namespace

// Other threads may go on meanwhile and learn more; a link made after the one that it should explain does
// not.
Chain find_chain(Thread const& t, std::uint32_t number, Slot slot, std::uint32_t writer) {
    Link backwards[Chain::most];
    std::size_t count = 0;
    std::uint64_t before = UINT64_MAX;
    for (Thread const* knows = &t; count < Chain::most;) {
        Link const* const link = find_link(knows->provenance, number);
        if (link == nullptr || link->moment >= before) return {};
        backwards[count++] = *link;
        if (link->from.thread == writer) break;
        before = link->moment;
        knows = find_by_id(link->from.thread);
        if (knows == nullptr) return {};
        number = knows->provenance.raised_by[slot];
    }
    Chain chain;
    if (count == 0 || backwards[count - 1].from.thread != writer) return chain;
    while (count > 0) chain.links[chain.count++] = backwards[--count];
    return chain;
}

}  // namespace fencepost
