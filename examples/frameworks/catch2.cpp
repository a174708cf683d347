// The same questions with Catch2: fencepost check --framework catch2
#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_test_macros.hpp>
#else
#define CATCH_CONFIG_MAIN  // version 2
#include <catch2/catch.hpp>
#endif

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

TEST_CASE("entering, release and acquire") {
    REQUIRE(entered(std::memory_order_release, std::memory_order_acquire) <= 1);
}
TEST_CASE("entering, seq_cst") {
    REQUIRE(entered(std::memory_order_seq_cst, std::memory_order_seq_cst) <= 1);
}
