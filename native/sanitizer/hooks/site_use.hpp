// What an operation asks about its site (core/sites.hpp): its order by the rules, and fences beside it.
//
// Such a fence is no scheduling point, so a run with changes has the schedule of the run without them. Nor
// does it matter where among the steps of other threads it stands: what a fence does depends on its own
// thread alone. It does not end a round of a loop that waits: what the loop reads stays the same.
#pragma once

#include "sanitizer/core/orders.hpp"
#include "sanitizer/core/sites.hpp"

namespace fencepost {

struct SiteOrders {
    Order order, failure;
};

// Makes the fence before it; gives the orders that count.
SiteOrders enter_site(SiteKind, SiteOrders compiled, void const* frame);
// Makes the fence after it.
void leave_site(SiteKind, void const* frame);
// Is the fence at this site still there?
bool fence_is_removed(void const* frame);
inline bool fence_stands(void const* frame) {
    return !sites::on || !fence_is_removed(frame);
}

// An operation at its site, as long as this lives.
class SiteUse {
  public:
    [[gnu::always_inline]] SiteUse(SiteKind kind, Order& order, void const* frame, bool ordinary = false)
        : kind_(kind), ordinary_(ordinary), frame_(frame) {
        if (!ordinary && sites::on) [[unlikely]]
            order = enter_site(kind, {order, Order::relaxed}, frame).order;
    }
    [[gnu::always_inline]] SiteUse(SiteKind kind, Order& success, Order& failure, void const* frame,
                                   bool ordinary = false)
        : kind_(kind), ordinary_(ordinary), frame_(frame) {
        if (ordinary || !sites::on) [[likely]]
            return;
        SiteOrders const orders = enter_site(kind, {success, failure}, frame);
        success = orders.order;
        failure = orders.failure;
    }
    [[gnu::always_inline]] ~SiteUse() {
        if (!ordinary_ && sites::on) [[unlikely]]
            leave_site(kind_, frame_);
    }
    SiteUse(SiteUse const&) = delete;
    SiteUse& operator=(SiteUse const&) = delete;

  private:
    SiteKind kind_;
    bool ordinary_;  // the run, so that nothing is on
    void const* frame_;
};

}  // namespace fencepost
