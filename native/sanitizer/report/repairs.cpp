#include "sanitizer/report/repairs.hpp"

namespace fencepost {
namespace {

bool is_atomic(Access access) {
    return access != Access::fence && access != Access::synchronisation;
}

class Adding {
  public:
    explicit Adding(Repairs& repairs) : repairs_(repairs) {}

    void fence(AccessAt const& after, AccessAt const& before) {
        add({true, Order::seq_cst, before.thread, after.pc, before.pc, 0});
    }
    // What orders the two in S: if one is seq_cst and the other is not, that is cheaper than a fence.
    void order_in_s(AccessAt const& after, AccessAt const& before) {
        bool const first = is_seq_cst(after), second = is_seq_cst(before);
        AccessAt const& weaker = first ? before : after;
        if (first && second) return;
        if (first == second || !is_atomic(weaker.access) || weaker.pc == 0) return fence(after, before);
        add({false, Order::seq_cst, weaker.thread, 0, 0, weaker.pc});
    }
    void order(AccessAt const& at, Order needed) {
        bool const both = at.access == Access::rmw || at.access == Access::cas;
        bool const has_other = needed == Order::release ? acquires(at.order) : releases(at.order);
        add({false, both && has_other ? Order::acq_rel : needed, at.thread, 0, 0, at.pc});
    }

  private:
    static bool is_seq_cst(AccessAt const& at) { return is_atomic(at.access) && at.order == Order::seq_cst; }

    void add(Repair const& repair) {
        for (std::size_t i = 0; i < repairs_.count; ++i) {
            Repair& known = repairs_.list[i];
            if (!known.fence && !repair.fence && known.at == repair.at && known.at != 0 &&
                known.order != repair.order) {  // one asks for release, the other for acquire, or for all
                bool const all = known.order == Order::seq_cst || repair.order == Order::seq_cst;
                known.order = all ? Order::seq_cst : Order::acq_rel;
                if (known.thread != repair.thread) known.thread = both_threads;
                return;
            }
            if (known.fence == repair.fence && known.after == repair.after && known.before == repair.before &&
                known.at == repair.at && known.order == repair.order) {
                if (known.thread != repair.thread) known.thread = both_threads;
                return;
            }
        }
        if (repairs_.count < Repairs::most) repairs_.list[repairs_.count++] = repair;
    }

    Repairs& repairs_;
};

// A link by which a thread reads what another wrote.
void strengthen(Adding& add, Link const& link) {
    if (is_atomic(link.from.access) && !releases(link.from.order)) add.order(link.from, Order::release);
    if (is_atomic(link.to.access) && !acquires(link.to.order)) add.order(link.to, Order::acquire);
}

}  // namespace

Repairs find_repairs(AccessAt const& missed, Chain const& chain, AccessAt const& by) {
    Repairs repairs;
    Adding add(repairs);
    for (std::size_t i = 0; i < chain.count; ++i) {
        Link const& link = chain.links[i];
        if (link.reads_from) {
            strengthen(add, link);
        } else {
            add.order_in_s(i == 0 ? missed : chain.links[i - 1].to, link.from);
            add.order_in_s(link.to, i + 1 == chain.count ? by : chain.links[i + 1].from);
        }
    }
    if (repairs.count == 0) {
        AccessAt const unknown{};
        AccessAt const writer{0, missed.thread, missed.access, missed.order};
        add.fence(missed, writer);
        add.fence(unknown, by);
    }
    return repairs;
}

Repairs find_race_repairs(Chain const& chain) {
    Repairs repairs;
    Adding add(repairs);
    for (std::size_t i = 0; i < chain.count; ++i) {
        if (!chain.links[i].reads_from) return {};
        strengthen(add, chain.links[i]);
    }
    return repairs;
}

}  // namespace fencepost
