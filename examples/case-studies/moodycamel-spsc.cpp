// Client of moodycamel::ReaderWriterQueue (Debian: libreaderwriterqueue-dev): a producer and a consumer, and
// a queue of small blocks, so that it grows and uses blocks again.
#include <readerwriterqueue/readerwriterqueue.h>

#include "items.hpp"

int main() {
    moodycamel::ReaderWriterQueue<int, 4> queue(2);
    pass_items(
        1, [&](int, int item) { return queue.enqueue(item); },
        [&](int& item) { return queue.try_dequeue(item); });
}
