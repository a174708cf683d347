// Client of boost::lockfree::spsc_queue (Debian: libboost-dev): a producer and a consumer, and a ring that is
// smaller than the number of items.
#include <boost/lockfree/spsc_queue.hpp>

#include "items.hpp"

int main() {
    boost::lockfree::spsc_queue<int, boost::lockfree::capacity<4>> queue;
    pass_items(
        1, [&](int, int item) { return queue.push(item); }, [&](int& item) { return queue.pop(item); });
}
