// Runs programs while another thread takes and gives back memory of the library: a child that wanted a lock
// which that thread held would wait for ever.
//
// links: sanitizer/system/lock.cpp sanitizer/system/memory.cpp sanitizer/system/subprocess.cpp
// links: sanitizer/system/text.cpp
#include "sanitizer/system/subprocess.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "sanitizer/system/memory.hpp"

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    std::atomic<bool> ready = false;
    std::thread([&] {
        for (ready = true;;) fencepost::memory::release(fencepost::memory::allocate(64), 64);
    }).detach();
    while (!ready) std::this_thread::yield();
    int const runs = std::atoi(argv[1]);
    for (int i = 0; i < runs; ++i) {
        fencepost::Text output;
        char const* const arguments[] = {"echo", "here", nullptr};
        if (!fencepost::run_and_read(arguments, output) || output.view() != "here\n") return 1;
    }
    std::printf("%d programs were run\n", runs);
    std::fflush(stdout);
    std::_Exit(0);
}
