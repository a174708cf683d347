// The same questions with GoogleTest: fencepost check --framework gtest
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

static int entered(std::memory_order store, std::memory_order load) {
    std::atomic<int> flag[2] = {};
    std::atomic<int> entered{0};
    auto const try_to_enter = [&](int me) {
        flag[me].store(1, store);
        if (!flag[1 - me].load(load)) ++entered;
    };
    std::thread first(try_to_enter, 0), second(try_to_enter, 1);
    first.join();
    second.join();
    return entered;
}

TEST(Entering, ReleaseAcquire) {
    EXPECT_LE(entered(std::memory_order_release, std::memory_order_acquire), 1);
}
TEST(Entering, SeqCst) {
    EXPECT_LE(entered(std::memory_order_seq_cst, std::memory_order_seq_cst), 1);
}
