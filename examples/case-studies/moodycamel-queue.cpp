// Client of moodycamel::ConcurrentQueue (Debian: libconcurrentqueue-dev): two producers, one with a token of
// its own and one without, and two consumers. Blocks are small, so that they are used again.
#include <concurrentqueue/concurrentqueue.h>

#include "items.hpp"

namespace {

struct Small : moodycamel::ConcurrentQueueDefaultTraits {
    static constexpr std::size_t BLOCK_SIZE = 2;
    static constexpr std::size_t EXPLICIT_INITIAL_INDEX_SIZE = 2;
    static constexpr std::size_t IMPLICIT_INITIAL_INDEX_SIZE = 2;
};

}  // namespace

int main() {
    moodycamel::ConcurrentQueue<int, Small> queue(4);
    moodycamel::ProducerToken token(queue);
    pass_items(
        2,
        [&](int producer, int item) {
            return producer == 0 ? queue.enqueue(token, item) : queue.enqueue(item);
        },
        [&](int& item) { return queue.try_dequeue(item); });
}
