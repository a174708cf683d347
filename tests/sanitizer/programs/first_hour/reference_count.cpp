// A reference count that is decremented relaxed: the last owner frees the object while the other's writes to it
// may not have arrived.
// atomics: nothing seen
// races: data race
// repair: for the operation at reference_count.cpp:17
#include <atomic>
#include <cstdio>
#include <thread>

struct Shared {
    std::atomic<int> owners{2};
    int written[2] = {0, 0};

    void use(int by) {
        written[by] = by + 1;
        // Each owner gives it back.
        if (owners.fetch_sub(1, std::memory_order_relaxed) == 1) {
            std::printf("%d\n", written[0] + written[1]);
            delete this;
        }
    }
};

int main() {
    auto* const shared = new Shared;
    std::thread other([shared] { shared->use(1); });
    shared->use(0);
    other.join();
}
