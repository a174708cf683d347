// Client of moodycamel::BlockingConcurrentQueue (Debian: libconcurrentqueue-dev): two producers, and two
// consumers that wait for their items.
#include <concurrentqueue/blockingconcurrentqueue.h>

#include "items.hpp"

int main() {
    moodycamel::BlockingConcurrentQueue<int> queue;
    pass_items(
        2, [&](int, int item) { return queue.enqueue(item); },
        [&](int& item) {
            queue.wait_dequeue(item);
            return true;
        });
}
