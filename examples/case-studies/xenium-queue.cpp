// Client of xenium::michael_scott_queue with hazard pointers (Debian: libxenium-dev): two producers and two
// consumers.
#include <xenium/michael_scott_queue.hpp>
#include <xenium/reclamation/hazard_pointer.hpp>

#include "items.hpp"

int main() {
    using Reclaimer = xenium::reclamation::hazard_pointer<>::with<
        xenium::policy::allocation_strategy<xenium::reclamation::hp_allocation::static_strategy<3>>>;
    xenium::michael_scott_queue<int, xenium::policy::reclaimer<Reclaimer>> queue;
    pass_items(
        2,
        [&](int, int item) {
            queue.push(item);
            return true;
        },
        [&](int& item) { return queue.try_pop(item); });
}
