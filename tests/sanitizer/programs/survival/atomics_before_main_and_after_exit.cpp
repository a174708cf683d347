// Atomics before main and after exit.
//
// prints: 356
#include "all.h"

std::atomic<int> count;
struct Counting {
    Counting() { ++count; }
    ~Counting() { std::printf("%d", ++count); std::fflush(stdout); }
} counting;
__attribute__((constructor(101))) void first() { ++count; }
__attribute__((destructor(101))) void last() { std::printf("%d", ++count); std::fflush(stdout); }
void at_exit() { ++count; }
int main() {
    std::atexit(at_exit);
    std::thread([] { ++count; }).join();
    std::printf("%d", count.load());
}
