#include "sanitizer/core/sc_provenance.hpp"

#include <bit>

#include "sanitizer/core/threads.hpp"
#include "sanitizer/system/memory.hpp"

namespace fencepost {

ScProvenance* all_provenance;
std::uint32_t ScProvenance::most_links, ScProvenance::most_fences;

namespace {

constexpr std::uint32_t fewest_links = 512, most_links_of_all = 1 << 22;

// Those of threads that have ended, the longest ago first.
constexpr std::uint32_t most_retired = 512;
std::uint32_t retired;
ScProvenance *oldest_retired, *newest_retired;

ScProvenance& take_oldest_retired() {
    ScProvenance& p = *oldest_retired;
    oldest_retired = p.next_retired;
    --retired;
    return p;
}

// Those of its fences that it made before that time of its own; it is known of so many.
std::uint32_t fences_made_before(ScProvenance const& p, Time time, std::uint32_t known = 0) {
    auto const is_before = [&](std::uint32_t fence) { return p.fence(fence).time < time; };
    std::uint32_t above = __atomic_load_n(&p.fences, __ATOMIC_ACQUIRE);
    std::uint32_t below = above < p.most_fences ? 0 : above - p.most_fences + 1;
    if (below < known && known <= above) below = known;
    if (below < above && !is_before(below + 1)) return below;  // most often there are no others
    while (below < above) {  // fence `below` and earlier ones are before, those after `above` are not
        std::uint32_t const middle = below + (above - below + 1) / 2;
        if (is_before(middle))
            below = middle;
        else
            above = middle - 1;
    }
    return below;
}

// A copy, because its thread may go on meanwhile. False if it is forgotten.
bool read_link(ScProvenance const& p, std::uint32_t thread, std::uint32_t number, Link& link) {
    auto const is_there = [&] {
        std::uint32_t const made = __atomic_load_n(&p.made, __ATOMIC_ACQUIRE);
        return number != 0 && number <= made && made - number < p.most_links - 1 && p.thread == thread;
    };
    if (!is_there()) return false;
    link = p.link(number);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return is_there();
}

// Searches backwards, shorter chains first.
class Search {
  public:
    // `wanted(link)`: the chain begins with it. `passes(link)`: it may be part of it.
    template <class Wanted, class Passes>
    static Chain run(Thread const& t, std::uint32_t made, bool newest_first, Wanted wanted, Passes passes) {
        Search search;
        search.add({t.provenance, t.id, made, no_parent, 0, {}});
        Link link;
        for (std::size_t i = 0; i < search.count_; ++i) {
            Node const node = search.nodes_[i];
            std::uint32_t const oldest =
                node.made < ScProvenance::most_links ? 1 : node.made - ScProvenance::most_links + 1;
            for (std::uint32_t n = 0; n + oldest <= node.made; ++n) {
                std::uint32_t const number = newest_first ? node.made - n : oldest + n;
                if (!read_link(*node.of, node.thread, number, link) || !passes(link)) continue;
                if (wanted(link)) return search.chain_from(i, link);
            }
            if (node.depth + 1 == Chain::most) continue;
            for (std::uint32_t number = node.made; number >= oldest; --number)
                if (read_link(*node.of, node.thread, number, link) && passes(link))
                    search.add(
                        {link.before.of, link.before.thread, link.before.links, i, node.depth + 1, link});
        }
        return {};
    }

    ~Search() { memory::release_array(nodes_, most); }
    Search(Search const&) = delete;
    Search& operator=(Search const&) = delete;

  private:
    Search() = default;

    static constexpr std::size_t most = 512, no_parent = SIZE_MAX;
    struct Node {
        ScProvenance const* of;
        std::uint32_t thread;
        std::uint32_t made;  // links that may be used
        std::size_t parent, depth;
        Link link;  // from this thread to that of the parent
    };

    // Unless one that may use more is there already.
    void add(Node const& node) {
        if (count_ == most || node.of == nullptr) return;
        for (std::size_t i = 0; i < count_; ++i)
            if (nodes_[i].of == node.of && nodes_[i].thread == node.thread && nodes_[i].made >= node.made)
                return;
        nodes_[count_++] = node;
    }
    Chain chain_from(std::size_t i, Link const& first) const {
        Chain chain;
        chain.links[chain.count++] = first;
        for (; nodes_[i].parent != no_parent; i = nodes_[i].parent)
            chain.links[chain.count++] = nodes_[i].link;
        return chain;
    }

    std::size_t count_ = 0;
    Node* const nodes_ = memory::allocate_array<Node>(most);  // the program's stacks may be small
};

void add_fences(Fences& gap, ScProvenance const& p, std::uint32_t thread, std::uint32_t from,
                std::uint32_t to) {
    for (std::uint32_t number = from + 1; number <= to && p.thread == thread; ++number)
        if (__atomic_load_n(&p.fences, __ATOMIC_ACQUIRE) - number < p.most_fences - 1)
            gap.add(p.fence(number).order);
}

// Which fences stand between its links, and after the last; before the first, from that number of fences on.
void find_fences(Chain& chain, Thread const& t, std::uint32_t first) {
    for (std::size_t i = 0; i < chain.count; ++i) {
        Moment const& before = chain.links[i].before;
        add_fences(chain.gaps[i], *before.of, before.thread, i == 0 ? first : chain.links[i - 1].to_fences,
                   before.fences);
    }
    add_fences(chain.gaps[chain.count], *t.provenance, t.id, chain.links[chain.count - 1].to_fences,
               t.provenance->fences);
}

}  // namespace

void set_history(std::uint32_t links) {
    std::uint32_t const enough = links < fewest_links        ? fewest_links
                                 : links < most_links_of_all ? std::bit_ceil(links)
                                                             : most_links_of_all;
    ScProvenance::most_links = enough;
    ScProvenance::most_fences = enough / 2;
}

// Memory that nobody has written takes none.
ScProvenance* make_provenance(std::uint32_t thread) {
    ScProvenance* p = nullptr;
    if (retired < most_retired) {
        std::size_t const links = ScProvenance::most_links * sizeof(Link),
                          fences = ScProvenance::most_fences * sizeof(FenceNote);
        auto* const begin = static_cast<char*>(memory::pages(sizeof(ScProvenance) + links + fences));
        p = reinterpret_cast<ScProvenance*>(begin);
        p->last = reinterpret_cast<Link*>(begin + sizeof(ScProvenance));
        p->last_fences = reinterpret_cast<FenceNote*>(begin + sizeof(ScProvenance) + links);
        p->next = all_provenance;
        __atomic_store_n(&all_provenance, p, __ATOMIC_RELEASE);
    } else {
        p = &take_oldest_retired();
        __atomic_store_n(&p->made, 0, __ATOMIC_RELEASE);
        __atomic_store_n(&p->fences, 0, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&p->thread, thread, __ATOMIC_RELEASE);
    p->alive = true;
    return p;
}

void retire(ScProvenance* p) {
    if (p == nullptr || !p->alive) return;
    p->alive = false;
    p->next_retired = nullptr;
    (retired++ == 0 ? oldest_retired : newest_retired->next_retired) = p;
    newest_retired = p;
}

void add_link(ScProvenance& p, Link const& link) {
    std::uint32_t const number = p.made + 1;
    p.link(number) = link;
    __atomic_store_n(&p.made, number, __ATOMIC_RELEASE);
}

void note_fence(Thread& t, Order order) {
    ScProvenance& p = *t.provenance;
    std::uint32_t const number = p.fences + 1;
    p.slot = t.slot;
    p.fence(number) = {t.time, order};
    __atomic_store_n(&p.fences, number, __ATOMIC_RELEASE);
}

Moment moment_of(Thread const& t) {
    return {t.provenance, t.id, t.slot, t.time, t.provenance->made, t.provenance->fences};
}

Moment moment_of(ScProvenance const& p, Slot slot, Time time, std::uint32_t links, std::uint32_t fences) {
    return {&p, p.thread, slot, time, links, fences_made_before(p, time, fences)};
}

void Fences::add(Order order) {
    if (count != 0 && orders[count - 1] == order) return;
    if (count == most) {  // a stronger one is worth more than one that came earlier
        if (has(order)) return;
        --count;
    }
    orders[count++] = order;
}

// A chain in which every thread reads what the one before wrote needs only release and acquire, and is easier
// to follow. If the write's own step is not known, only a thread that has read it says that it comes after.
Chain find_chain(Thread const& t, std::uint32_t made, SoughtWrite const& write) {
    auto const is_read = [](Link const& link) { return link.reads_from; };
    auto const all = [](Link const&) { return true; };
    auto const comes_after = [&](Link const& link) {
        return link.before.thread == write.thread && link.before.slot == write.slot &&
               link.before.time >= write.time;
    };
    auto const reads_it = [&](Link const& link) {
        return link.before.thread == write.thread && link.address == write.address && link.reads_from;
    };
    Chain chain;
    bool const has_step = write.slot != no_slot;
    if (has_step) chain = Search::run(t, made, false, comes_after, is_read);
    if (has_step && chain.count == 0) chain = Search::run(t, made, false, comes_after, all);
    if (chain.count != 0) {
        find_fences(chain, t, fences_made_before(*chain.links[0].before.of, write.time));
        return chain;
    }
    chain = Search::run(t, made, true, reads_it, all);
    if (chain.count != 0) find_fences(chain, t, chain.links[0].before.fences);
    return chain;
}

Chain find_last_chain(Thread const& t, std::uint32_t other) {
    return Search::run(
        t, t.provenance->made, true, [&](Link const& link) { return link.before.thread == other; },
        [](Link const&) { return true; });
}

}  // namespace fencepost
