// Client of cds::container::WeakRingBuffer (Debian: libcds-dev): one producer and one consumer.
#include <cds/container/weak_ringbuffer.h>

#include "items.hpp"

int main() {
    cds::container::WeakRingBuffer<int> queue(4);
    pass_items(
        1, [&](int, int item) { return queue.push(item); }, [&](int& item) { return queue.pop(item); });
}
