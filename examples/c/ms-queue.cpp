// The queue of Michael and Scott (Simple, fast, and practical non-blocking and blocking concurrent queue
// algorithms, 1996): a list with a dummy node in front; `tail` may lag behind; a thread that notices helps.
// Nodes are freed at the end only. The algorithm was published for sequential consistency, and here all its
// accesses are seq_cst.
// expect: robust cpp20=yes
// Why: if all accesses are seq_cst, their total order S is an interleaving that explains the run.
#include <atomic>

#include "threads.hpp"

#ifndef LOAD
#define LOAD std::memory_order_seq_cst
#define UPDATE std::memory_order_seq_cst
#endif

namespace {

struct node {
    std::atomic<node*> next{nullptr};
    int value = 0;
};

class queue {
  public:
    void push(node* item) {
        for (;;) {
            node* last = tail_.load(LOAD);
            node* next = last->next.load(LOAD);
            if (next != nullptr) {
                tail_.compare_exchange_strong(last, next, UPDATE, LOAD);
            } else if (last->next.compare_exchange_strong(next, item, UPDATE, LOAD)) {
                tail_.compare_exchange_strong(last, item, UPDATE, LOAD);
                return;
            }
        }
    }

    bool pop(int& value) {
        for (;;) {
            node* first = head_.load(LOAD);
            node* last = tail_.load(LOAD);
            node* next = first->next.load(LOAD);
            if (next == nullptr) return false;
            if (first == last) {
                tail_.compare_exchange_strong(last, next, UPDATE, LOAD);
            } else {
                int found = next->value;
                if (head_.compare_exchange_strong(first, next, UPDATE, LOAD)) {
                    value = found;
                    return true;
                }
            }
        }
    }

  private:
    node dummy_;
    std::atomic<node*> head_{&dummy_}, tail_{&dummy_};
};

constexpr int threads = THREADS;
queue items;
node nodes[threads][ROUNDS];

}  // namespace

int main() {
    run_threads(threads, [](int number) {
        for (int i = 0; i < ROUNDS; i++) {
            nodes[number][i].value = i + 1;
            items.push(&nodes[number][i]);
            int value = 0;
            check(items.pop(value) && value > 0, "who pushes first finds something to pop");
        }
    });
    int value;
    check(!items.pop(value), "what was pushed was popped");
}
