// Exceptions across instrumented frames.
//
// prints: 200 5
#include "all.h"

std::atomic<int> caught;
std::mutex mutex;
std::once_flag once;
int deep(int n) {
    caught.load();
    std::lock_guard<std::mutex> held(mutex);
    if (n == 0) throw std::runtime_error("deep");
    throw n;
}
int initialised() { static int const value = caught.load() < 0 ? throw 1 : 5; return value; }
int main() {
    auto const work = [] {
        for (int i = 0; i < 100; ++i) {
            try { deep(i % 2); } catch (std::exception const&) { ++caught; } catch (int) { ++caught; }
            try { std::call_once(once, [] { if (caught < 10) throw 1; }); } catch (int) { }
        }
    };
    std::thread other(work);
    work();
    other.join();
    std::printf("%d %d", caught.load(), initialised());
}
