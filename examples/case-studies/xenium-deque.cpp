// Client of xenium::chase_work_stealing_deque (Debian: libxenium-dev): the owner pushes all items and takes
// half of them back, and two thieves steal the others.
#include <xenium/chase_work_stealing_deque.hpp>

#include "items.hpp"

int main() {
    static int numbers[4 * ROUNDS], taken[4 * ROUNDS];
    xenium::chase_work_stealing_deque<int> deque;
    auto const steal = [&](int* to) {
        for (int i = 0; i < ROUNDS; i++) {
            int* number;
            while (!deque.try_steal(number)) std::this_thread::yield();
            to[i] = *number;
        }
    };
    std::thread thieves[] = {std::thread(steal, taken), std::thread(steal, taken + ROUNDS)};
    int own = 0;
    auto const take = [&] {
        int* number;
        if (own < 2 * ROUNDS && deque.try_pop(number)) taken[2 * ROUNDS + own++] = *number;
    };
    for (int i = 0; i < 4 * ROUNDS; i++) {
        numbers[i] = i;
        while (!deque.try_push(&numbers[i])) std::this_thread::yield();
        if (i % 3 == 2) take();
    }
    while (own < 2 * ROUNDS) take();
    for (std::thread& thief : thieves) thief.join();
    std::sort(taken, taken + 4 * ROUNDS);
    for (int i = 0; i < 4 * ROUNDS; i++) {
        if (taken[i] == i) continue;
        std::fprintf(stderr, "broken: an item is lost or comes twice\n");
        return 1;
    }
}
