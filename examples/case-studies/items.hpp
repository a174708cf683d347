// What the clients of this folder share: items go in at one end and have to come out at the other, each once.
#ifndef ITEMS_HPP
#define ITEMS_HPP

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

// How many items each producer sends and each consumer receives.
#ifndef ROUNDS
#define ROUNDS 20
#endif

// As many producers as consumers, each a thread. send(producer, item) and receive(item) may fail, and are
// tried again. Exits with 1 if an item is lost or comes twice.
template <class Send, class Receive>
void pass_items(int pairs, Send send, Receive receive) {
    std::vector<int> received(static_cast<std::size_t>(pairs * ROUNDS));
    auto const produce = [&](int number) {
        for (int i = 0; i < ROUNDS; i++)
            while (!send(number, number * ROUNDS + i)) std::this_thread::yield();
    };
    auto const consume = [&](int number) {
        for (int i = 0; i < ROUNDS; i++)
            while (!receive(received[static_cast<std::size_t>(number * ROUNDS + i)]))
                std::this_thread::yield();
    };
    std::vector<std::thread> threads;
    for (int number = 0; number < pairs; number++) {
        threads.emplace_back(produce, number);
        threads.emplace_back(consume, number);
    }
    for (std::thread& thread : threads) thread.join();
    std::sort(received.begin(), received.end());
    for (int i = 0; i < pairs * ROUNDS; i++) {
        if (received[static_cast<std::size_t>(i)] == i) continue;
        std::fprintf(stderr, "broken: an item is lost or comes twice\n");
        std::exit(1);
    }
}

#endif
