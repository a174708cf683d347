#include "sanitizer/report/repairs.hpp"

#include "sanitizer/report/trial.hpp"

namespace fencepost {
namespace {

bool is_atomic(Access access) {
    return access != Access::fence && access != Access::synchronisation;
}

// The order that does what both do, as far as the access can: a failed CAS is a load.
Order with(Access access, Order order, Order needed) {
    if (order == Order::seq_cst || needed == Order::seq_cst) return Order::seq_cst;
    bool const acquire = access != Access::store && (acquires(order) || acquires(needed));
    bool const release = access != Access::load && (releases(order) || releases(needed));
    if (acquire && release) return Order::acq_rel;
    return acquire ? Order::acquire : release ? Order::release : order;
}

class Adding {
  public:
    explicit Adding(Repairs& repairs) : repairs_(repairs) {}

    void fence(AccessAt const& after, AccessAt const& before) {
        add({true, Order::seq_cst, before.thread, after.pc, before.pc, 0});
    }
    void changed_order(AccessAt const& at, Order order) { add({false, order, at.thread, 0, 0, at.pc}); }
    void order(AccessAt const& at, Order needed) { changed_order(at, with(at.access, at.order, needed)); }

  private:
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

// What a repair may change, one change after the other: an order of an access, or a fence in a gap.
struct Change {
    std::uint8_t event, gap;  // `none` for the other of the two
    Order order;

    static constexpr std::uint8_t none = UINT8_MAX;
    bool is_fence() const { return event == none; }
    // A fence costs more than a seq_cst access, and that costs more than release or acquire.
    std::size_t cost() const { return is_fence() ? 7 : order == Order::seq_cst ? 4 : 1; }
};

struct Plan {
    std::size_t count = 0;
    Change list[2 * Trial::most + Chain::most + 1];

    void add_order(std::size_t event, Order order) {
        list[count++] = {static_cast<std::uint8_t>(event), Change::none, order};
    }
    void add_fence(std::uint8_t gap) { list[count++] = {Change::none, gap, Order::seq_cst}; }
    std::size_t cost() const {
        std::size_t sum = 0;
        for (std::size_t i = 0; i < count; ++i) sum += list[i].cost();
        return sum;
    }
    // Beside the changes that are made already.
    bool works(Trial const& trial, Trial::Changes changes) const {
        for (std::size_t i = 0; i < count; ++i) {
            Change const& change = list[i];
            if (change.is_fence())
                changes.fences[change.gap] = true;
            else
                changes.orders[change.event] =
                    with(trial.event(change.event).at.access, changes.orders[change.event], change.order);
        }
        return trial.works(changes);
    }
    // Leaves out what is not needed, the dearest first.
    void minimise(Trial const& trial, Trial::Changes const& made) {
        for (std::size_t cost = 7; cost > 0; --cost)
            for (std::size_t i = count; i-- > 0;) {
                if (list[i].cost() != cost) continue;
                Plan fewer = *this;
                for (std::size_t j = i + 1; j < count; ++j) fewer.list[j - 1] = list[j];
                --fewer.count;
                if (fewer.works(trial, made)) *this = fewer;
            }
    }
};

// Release and acquire wherever one thread reads what another wrote.
void add_release_and_acquire(Plan& plan, Trial const& trial) {
    for (std::size_t i = 0; i < trial.count(); ++i) {
        Trial::Event const& to = trial.event(i);
        if (to.reads == Trial::nothing || to.sync()) continue;
        Trial::Event const& from = trial.event(to.reads);
        if (!releases(from.at.order)) plan.add_order(to.reads, Order::release);
        if (!acquires(to.at.order)) plan.add_order(i, Order::acquire);
    }
}

void add_seq_cst(Plan& plan, Trial const& trial) {
    for (std::size_t i = 0; i < trial.count(); ++i)
        if (!trial.event(i).sync() && trial.event(i).at.order != Order::seq_cst)
            plan.add_order(i, Order::seq_cst);
}

void add_fences(Plan& plan, Trial const& trial) {
    for (std::size_t i = 1; i < trial.count(); ++i) {
        std::uint8_t const gap = trial.event(i).gap;
        bool const has_place = trial.event(i - 1).at.pc != 0 || trial.event(i).at.pc != 0;
        if (gap != Trial::no_gap && has_place && !trial.chain().gaps[gap].has(Order::seq_cst))
            plan.add_fence(gap);
    }
}

// The cheapest of those kinds of change that work: release and acquire alone, with seq_cst accesses, with SC
// fences, with both.
bool find_plan(Trial const& trial, Trial::Changes const& made, Plan& best) {
    bool found = false;
    for (int kind = 0; kind < 4; ++kind) {
        Plan plan;
        add_release_and_acquire(plan, trial);
        if ((kind & 1) != 0) add_seq_cst(plan, trial);
        if ((kind & 2) != 0) add_fences(plan, trial);
        if (!plan.works(trial, made)) continue;
        plan.minimise(trial, made);
        if (!found || plan.cost() < best.cost()) best = plan;
        found = true;
        if (kind == 0) break;
    }
    return found;
}

// What the repairs do to the accesses of this chain. A fence may stand anywhere between its two accesses, so
// it is in a gap for sure only if the gap is between these.
Trial::Changes changes_by(Repairs const& repairs, Trial const& trial) {
    Trial::Changes changes = trial.none();
    for (std::size_t i = 0; i < trial.count(); ++i) {
        AccessAt const& at = trial.event(i).at;
        std::size_t const gap = trial.event(i).gap;
        for (std::size_t j = 0; j < repairs.count; ++j) {
            Repair const& repair = repairs.list[j];
            if (!repair.fence) {
                if (repair.at == at.pc && is_atomic(at.access))
                    changes.orders[i] = with(at.access, changes.orders[i], repair.order);
            } else if (i != 0 && gap != Trial::no_gap) {
                bool const after = repair.after == 0 || repair.after == trial.event(i - 1).at.pc;
                bool const before = repair.before == 0 || repair.before == at.pc;
                if (after && before) changes.fences[gap] = true;
            }
        }
    }
    return changes;
}

}  // namespace

Tried try_repairs(Repairs& repairs, AccessAt const& missed, std::uintptr_t address, Chain const& chain,
                  AccessAt const& by) {
    if (chain.count == 0) return Tried::not_known;
    Trial const trial(missed, address, chain, by);
    if (trial.works(trial.none())) return Tried::not_known;  // the chain is not the whole story
    Trial::Changes const made = changes_by(repairs, trial);
    if (trial.works(made)) return Tried::enough;
    Plan plan;
    if (!find_plan(trial, made, plan) || repairs.count + plan.count > Repairs::most) return Tried::not_known;
    Adding add(repairs);
    for (std::size_t i = 0; i < plan.count; ++i) {
        Change const& change = plan.list[i];
        if (!change.is_fence()) {
            AccessAt const& at = trial.event(change.event).at;
            add.changed_order(at, with(at.access, made.orders[change.event], change.order));
            continue;
        }
        std::size_t event = 0;
        while (trial.event(event).gap != change.gap) ++event;
        add.fence(trial.event(event - 1).at, trial.event(event).at);
    }
    return Tried::extended;
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
