// Client of boost::lockfree::queue (Debian: libboost-dev): two producers and two consumers, nodes from a pool
// that is too small for all items, so that nodes are used again.
#include <boost/lockfree/queue.hpp>

#include "items.hpp"

int main() {
    boost::lockfree::queue<int, boost::lockfree::fixed_sized<true>> queue(4);
    pass_items(
        2, [&](int, int item) { return queue.push(item); }, [&](int& item) { return queue.pop(item); });
}
