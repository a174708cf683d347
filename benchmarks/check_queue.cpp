// A client of a Michael-Scott queue, 20 times: the choice changes nothing (benchmarks/check.py).
#include <fencepost.h>

#include <atomic>
#include <cassert>
#include <thread>
struct Node {
    std::atomic<Node*> next{nullptr};
    int value;
    Node(int v) : value(v) {}
};
std::atomic<Node*> head, tail;
void enqueue(int v) {
    Node* n = new Node(v);
    for (;;) {
        Node* t = tail.load(std::memory_order_acquire);
        Node* next = t->next.load(std::memory_order_acquire);
        if (t != tail.load(std::memory_order_acquire)) continue;
        if (next == nullptr) {
            if (t->next.compare_exchange_strong(next, n, std::memory_order_acq_rel)) {
                tail.compare_exchange_strong(t, n, std::memory_order_acq_rel);
                return;
            }
        } else
            tail.compare_exchange_strong(t, next, std::memory_order_acq_rel);
    }
}
int dequeue() {
    for (;;) {
        Node* h = head.load(std::memory_order_acquire);
        Node* t = tail.load(std::memory_order_acquire);
        Node* next = h->next.load(std::memory_order_acquire);
        if (h != head.load(std::memory_order_acquire)) continue;
        if (h == t) {
            if (next == nullptr) return -1;
            tail.compare_exchange_strong(t, next, std::memory_order_acq_rel);
        } else if (head.compare_exchange_strong(h, next, std::memory_order_acq_rel))
            return next->value;
    }
}
int main() {
    Node* dummy = new Node(0);
    head = dummy;
    tail = dummy;
    std::thread a([] {
        fp_choose(20);
        enqueue(1);
        dequeue();
    }),
        b([] {
            enqueue(2);
            dequeue();
        });
    a.join();
    b.join();
}
