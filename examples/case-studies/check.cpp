// Clients of the libraries for `fencepost check`: two threads, so few operations that all executions can be
// run. Libraries of which the headers are missing are left out.
#include <fencepost.h>

#if __has_include(<boost/lockfree/queue.hpp>)
#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <boost/lockfree/stack.hpp>

namespace {

using Ring = boost::lockfree::spsc_queue<int, boost::lockfree::capacity<2>>;
using Queue = boost::lockfree::queue<int, boost::lockfree::capacity<4>>;
using Stack = boost::lockfree::stack<int, boost::lockfree::capacity<4>>;

Ring* ring;
Queue* queue;
Stack* stack;
int first, second;

}  // namespace

fp_test(boost_spsc) {
    fp_setup { ring = new Ring; }
    fp_thread {
        for (int item = 1; item <= 3; item++) ring->push(item);
    }
    fp_thread {
        if (ring->pop(first)) ring->pop(second);
    }
    fp_check {
        fp_assert(first == 0 || first == 1);
        fp_assert(second == 0 || second == 2);
    }
}

fp_test(boost_queue_push_pop) {
    fp_setup { queue = new Queue; }
    fp_thread { queue->push(1); }
    fp_thread { queue->pop(first); }
    fp_check { fp_assert(first == 0 || first == 1); }
}

fp_test(boost_queue_push_push) {
    fp_setup { queue = new Queue; }
    fp_threads(2, i) { queue->push(i + 1); }
    fp_check {
        fp_assert(queue->pop(first) && queue->pop(second));
        fp_assert(first + second == 3);
    }
}

fp_test(boost_queue_twice) {
    fp_setup { queue = new Queue; }
    fp_thread {
        queue->push(1);
        queue->push(2);
    }
    fp_thread {
        queue->pop(first);
        queue->pop(second);
    }
    fp_check { fp_assert(first + second <= 3 && (first == 0 || second == 0 || first < second)); }
}

fp_test(boost_stack_push_pop) {
    fp_setup { stack = new Stack; }
    fp_thread { stack->push(1); }
    fp_thread { stack->pop(first); }
    fp_check { fp_assert(first == 0 || first == 1); }
}

fp_test(boost_stack_twice) {
    fp_setup { stack = new Stack; }
    fp_thread {
        stack->push(1);
        fp_assert(stack->pop(first));
    }
    fp_thread {
        stack->push(2);
        fp_assert(stack->pop(second));
    }
    fp_check { fp_assert(first + second == 3); }
}

fp_test(boost_stack_pop_pop) {
    fp_setup {
        stack = new Stack;
        stack->push(1);
        stack->push(2);
    }
    fp_thread { fp_assert(stack->pop(first)); }
    fp_thread { fp_assert(stack->pop(second)); }
    fp_check { fp_assert(first + second == 3); }
}
#endif

#if __has_include(<concurrentqueue/concurrentqueue.h>)
#include <concurrentqueue/blockingconcurrentqueue.h>
#include <concurrentqueue/concurrentqueue.h>

namespace {

moodycamel::ConcurrentQueue<int>* items;
moodycamel::BlockingConcurrentQueue<int>* awaited;
int found, other;

}  // namespace

fp_test(moodycamel_enqueue_dequeue) {
    fp_setup { items = new moodycamel::ConcurrentQueue<int>(32); }
    fp_thread { items->enqueue(1); }
    fp_thread { items->try_dequeue(found); }
    fp_check { fp_assert(found == 0 || found == 1); }
}

fp_test(moodycamel_dequeue_dequeue) {
    fp_setup {
        items = new moodycamel::ConcurrentQueue<int>(32);
        items->enqueue(1);
        items->enqueue(2);
    }
    fp_thread { items->try_dequeue(found); }
    fp_thread { items->try_dequeue(other); }
    fp_check { fp_assert(found != other); }
}

fp_test(moodycamel_blocking) {
    fp_setup { awaited = new moodycamel::BlockingConcurrentQueue<int>(32); }
    fp_thread { awaited->enqueue(1); }
    fp_thread { awaited->wait_dequeue(found); }
    fp_check { fp_assert(found == 1); }
}
#endif
