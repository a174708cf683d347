#include "sanitizer/hooks/site_use.hpp"

#include "sanitizer/core/atomic_methods.hpp"
#include "sanitizer/core/threads.hpp"
#include "sanitizer/hooks/operations.hpp"
#include "sanitizer/report/json.hpp"
#include "sanitizer/system/options.hpp"

namespace fencepost {
namespace {

void insert_fence(PerhapsOrder order) {
    Hook hook;
    if (!order || !watched(hook)) return;
    fence_by_the_rules(hook.thread(), *order);
}

void list(SiteKind kind, std::uintptr_t pc, SiteOrders compiled) {
    Hook const hook;
    if (hook && sites::is_first_use(pc, kind)) json_site(kind, pc, compiled.order, compiled.failure);
}

}  // namespace

SiteOrders enter_site(SiteKind kind, SiteOrders compiled, void const* frame) {
    std::uintptr_t const pc = pc_of(frame);
    if (options.list_sites) list(kind, pc, compiled);
    SiteChange const change = sites::find(pc, kind);
    insert_fence(change.before);
    return {change.order.value_or(compiled.order), change.failure.value_or(compiled.failure)};
}

void leave_site(SiteKind kind, void const* frame) {
    insert_fence(sites::find(pc_of(frame), kind).after);
}

bool fence_is_removed(void const* frame) {
    return sites::find(pc_of(frame), SiteKind::fence).removed;
}

}  // namespace fencepost
