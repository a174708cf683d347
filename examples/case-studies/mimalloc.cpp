// Client of mimalloc (Debian: the source package mimalloc; build its src/static.c with fencepost-cc): threads
// allocate blocks and exchange them, so that most are freed by another thread than the one that allocated
// them. The threads of the second half find what those of the first half have left behind.
#include <mimalloc.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#ifndef ROUNDS
#define ROUNDS 40
#endif

namespace {

constexpr std::size_t threads = 3, places = 4, block_size = 64;
std::atomic<char*> exchanged[places];

// The block is as its owner left it.
void check(char const* block) {
    for (std::size_t i = 1; i < block_size; i++) {
        if (block[i] == block[0]) continue;
        std::fprintf(stderr, "broken: a block belongs to two threads\n");
        std::exit(1);
    }
}

void work(std::size_t number) {
    for (std::size_t i = 0; i < ROUNDS; i++) {
        auto* const mine = static_cast<char*>(mi_malloc(block_size));
        std::memset(mine, static_cast<int>(number), block_size);
        char* const other = exchanged[(number + i) % places].exchange(mine);
        if (other == nullptr) continue;
        check(other);
        mi_free(other);
    }
}

}  // namespace

int main() {
    mi_option_set(mi_option_segment_decommit_delay, 0);  // a freed segment is given back at once
    for (int half = 0; half < 2; half++) {
        std::vector<std::thread> running;
        for (std::size_t number = 0; number < threads; number++) running.emplace_back(work, number);
        for (std::thread& thread : running) thread.join();
    }
    for (std::atomic<char*>& place : exchanged) mi_free(place.exchange(nullptr));
}
