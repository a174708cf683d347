// Reference counting as in Rust's Arc and std::shared_ptr: increments are relaxed, decrements release, and
// the thread that drops the last reference has an acquire fence before it destroys the object.
// expect: robust rc20=yes
// Why: reference-count.tpl, by the static engine.
#include <atomic>
#include <memory>

#include "threads.hpp"

#ifndef DROP
#define DROP std::memory_order_release
#endif

namespace {

constexpr int threads = THREADS;

// Each thread uses a part of its own. Parts are relaxed atomics, so that the count alone keeps them in order
// and the sanitizer sees them.
struct object {
    std::atomic<int> count{threads};
    std::atomic<int> parts[threads] = {};
};

void copy(object& shared) {
    shared.count.fetch_add(1, std::memory_order_relaxed);
}

void use(object& shared, int number) {
    shared.parts[number].store(1, std::memory_order_relaxed);
}

// Whether the object was destroyed.
bool drop(object& shared) {
    if (shared.count.fetch_sub(1, DROP) != 1) return false;
    std::atomic_thread_fence(std::memory_order_acquire);
    for (std::atomic<int>& part : shared.parts) {
        check(part.load(std::memory_order_relaxed) == 1, "an object is destroyed once, after its last use");
        part.store(2, std::memory_order_relaxed);
    }
    return true;
}

}  // namespace

int main() {
    std::unique_ptr<object[]> objects(new object[ROUNDS]);
    std::atomic<int> destroyed{0};
    run_threads(threads, [&](int number) {
        for (int i = 0; i < ROUNDS; i++) {
            copy(objects[i]);
            use(objects[i], number);
            bool last = drop(objects[i]);
            use(objects[i], number);
            last = drop(objects[i]) || last;
            destroyed.fetch_add(last, std::memory_order_relaxed);
        }
    });
    check(destroyed.load(std::memory_order_relaxed) == ROUNDS, "every object is destroyed");
}
