#include "sanitizer/report/trial.hpp"

namespace fencepost {
namespace {

// Does it know the write as C, and do its P, F and E of seq-cst.md?
struct Known {
    bool c, p, f, e;

    void join(Known const& other) {
        c |= other.c;
        p |= other.p;
        f |= other.f;
        e |= other.e;
    }
};

struct ThreadKnows {
    Known now{}, pending{}, released{};  // C, A, R; and P, F, E likewise

    void learn(Known const& what) {
        now.join(what);
        pending.join(what);
    }
};

struct LocationKnows {
    std::uintptr_t address;
    bool kw, kr, kfw, kfr;
};

class Run {
  public:
    Run(Trial const& trial, Trial::Changes const& changes) : trial_(trial), changes_(changes) {}

    bool knows_at_the_end() {
        std::size_t const last = trial_.count() - 1;
        for (std::size_t i = 0; i < last; ++i) {
            pass_gap(i);
            access(i);
        }
        pass_gap(last);
        bool const is_sc = changes_.orders[last] == Order::seq_cst;
        return t_.now.c || t_.now.f || (is_sc && t_.now.p);
    }

  private:
    // Each thread of the chain is left for good.
    void pass_gap(std::size_t i) {
        std::size_t const gap = trial_.event(i).gap;
        if (gap == Trial::no_gap) {
            if (i != 0) t_ = {};
            return;
        }
        Fences const& fences = trial_.chain().gaps[gap];
        for (std::size_t f = 0; f < fences.count; ++f) fence(fences.orders[f]);
        if (changes_.fences[gap]) fence(Order::seq_cst);
    }

    void fence(Order order) {
        bool const p_before = t_.now.p;
        bool const sc = order == Order::seq_cst;
        bool k = false;
        if (acquires(order)) {
            t_.now = t_.pending;
            t_.now.p = p_before;
        }
        if (sc) {
            k = p_before || t_.now.e || t_.now.c;
            t_.now.f |= k;
            t_.pending.f |= k;
        }
        bool const p_after = acquires(order) ? t_.pending.p : p_before;
        if (releases(order)) {
            t_.released = t_.now;
            t_.released.p = p_after;
        }
        t_.now.p = p_after || k;
        t_.pending.p |= k;
    }

    void access(std::size_t i) {
        Trial::Event const& event = trial_.event(i);
        Known read{};
        if (event.reads != Trial::nothing) read = messages_[event.reads];
        if (event.sync()) {
            t_.learn(read);
            messages_[i] = t_.now;
            return;
        }
        Order const order = changes_.orders[i];
        bool const sc = order == Order::seq_cst, writing = writes(event.at.access);
        bool const is_here = event.address == trial_.event(0).address;
        LocationKnows& x = location(event.address);
        bool const in = x.kw || x.kfw || (writing && (x.kr || x.kfr));
        bool const k = sc && (t_.now.p || in || is_here);
        t_.pending.join(read);
        if (acquires(order)) t_.now.join(read);
        t_.learn({is_here, false, false, in});
        if (writing) {
            messages_[i] = releases(order) ? t_.now : t_.released;
            messages_[i].join(read);  // it is an RMW then
            messages_[i].c |= is_here;
            x.kw |= x.kr || k;
            x.kfw |= x.kfr || t_.now.f;
        } else {
            x.kfr |= t_.now.f;
            x.kr |= k;
        }
        t_.learn({false, k, false, false});
    }

    LocationKnows& location(std::uintptr_t address) {
        std::size_t i = 0;
        while (i < locations_ && at_[i].address != address) ++i;
        if (i == locations_) at_[locations_++] = {address, false, false, false, false};
        return at_[i];
    }

    Trial const& trial_;
    Trial::Changes const& changes_;
    ThreadKnows t_;
    Known messages_[Trial::most];
    std::size_t locations_ = 0;
    LocationKnows at_[Trial::most];
};

}  // namespace

Trial::Trial(AccessAt const& missed, std::uintptr_t address, Chain const& chain, AccessAt const& by)
    : chain_(chain) {
    add(missed, address, no_gap, nothing);
    for (std::size_t i = 0; i < chain.count; ++i) {
        Link const& link = chain.links[i];
        Event const& last = events_[count_ - 1];
        bool const same = last.at.pc == link.from.pc && last.address == link.address && !last.sync() &&
                          link.from.access != Access::synchronisation;
        if (!same) add(link.from, link.address, i, nothing);
        add(link.to, link.address, no_gap, link.reads_from ? count_ - 1 : nothing);
    }
    add(by, address, chain.count, nothing);
}

void Trial::add(AccessAt const& at, std::uintptr_t address, std::size_t gap, std::size_t reads) {
    events_[count_++] = {at, address, static_cast<std::uint8_t>(gap), static_cast<std::uint8_t>(reads)};
}

Trial::Changes Trial::none() const {
    Changes changes{};
    for (std::size_t i = 0; i < count_; ++i) changes.orders[i] = events_[i].at.order;
    return changes;
}

bool Trial::works(Changes const& changes) const {
    return Run(*this, changes).knows_at_the_end();
}

}  // namespace fencepost
