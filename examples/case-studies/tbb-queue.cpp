// Client of tbb::concurrent_queue (Debian: libtbb-dev): two producers and two consumers. Its atomics are in
// headers, and so are watched; the library itself only gives it memory.
#include <tbb/concurrent_queue.h>

#include "items.hpp"

int main() {
    tbb::concurrent_queue<int> queue;
    pass_items(
        2,
        [&](int, int item) {
            queue.push(item);
            return true;
        },
        [&](int& item) { return queue.try_pop(item); });
}
