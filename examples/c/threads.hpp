// What the C++ programs of this folder share: their threads, how long they run, and what they check.
#ifndef THREADS_HPP
#define THREADS_HPP

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

// How often each thread does what the program is about.
#ifndef ROUNDS
#define ROUNDS 100
#endif

// How many threads there are, where that can be chosen.
#ifndef THREADS
#define THREADS 3
#endif

// Runs body(0) to body(count - 1), each in a thread, and waits for all of them.
template <class Body>
void run_threads(int count, Body body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; i++) threads.emplace_back(body, i);
    for (std::thread& thread : threads) thread.join();
}

// Ends the program with exit code 1 if what it promises does not hold.
inline void check(bool holds, const char* promise) {
    if (!holds) {
        std::fprintf(stderr, "broken: %s\n", promise);
        std::exit(1);
    }
}

#endif
