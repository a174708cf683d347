// What the native tests share: checks that say where they failed, and random numbers that are the same on
// every machine.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                              \
    do {                                                                              \
        if (!(condition)) {                                                           \
            std::printf("%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                             \
        }                                                                             \
    } while (false)

namespace fencepost {

template <class Exception, class Action>
bool throws(Action action) {
    try {
        action();
    } catch (Exception const&) {
        return true;
    }
    return false;
}

// SplitMix (Steele, Lea and Flood 2014).
class Chance {
  public:
    explicit Chance(std::uint64_t seed) : state_(seed) {}

    std::uint64_t word() {
        auto z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        return z ^ z >> 31;
    }
    // Less than `count`.
    std::uint32_t below(std::size_t count) { return static_cast<std::uint32_t>(word() % count); }
    bool one_in(std::size_t count) { return below(count) == 0; }

  private:
    std::uint64_t state_;
};

}  // namespace fencepost
