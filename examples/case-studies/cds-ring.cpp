// Client of cds::container::VyukovMPMCCycleQueue (Debian: libcds-dev): two producers and two consumers.
#include <cds/container/vyukov_mpmc_cycle_queue.h>

#include "items.hpp"

int main() {
    cds::container::VyukovMPMCCycleQueue<int> queue(4);
    pass_items(
        2, [&](int, int item) { return queue.enqueue(item); }, [&](int& item) { return queue.dequeue(item); });
}
