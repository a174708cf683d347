// Sites: the atomic operations and fences of the program, told apart by their return addresses, and what is
// changed at them (sites=FILE): other orders, fences, or no fence. Changes are for the rules alone; the
// operation that the compiler made stays as it is.
//
// The table lies in memory that processes share with those they fork, so that a site is listed once.
#pragma once

#include <cstdint>

#include "sanitizer/core/orders.hpp"

namespace fencepost {

enum class SiteKind : std::uint8_t { load, store, exchange, fetch, compare_exchange, fence };
inline constexpr int site_kinds = 6;

// An order, or none. None is zero, as in memory that nobody has written.
class PerhapsOrder {
  public:
    constexpr PerhapsOrder() = default;
    constexpr PerhapsOrder(Order order) : number_(static_cast<std::uint8_t>(static_cast<int>(order) + 1)) {}
    constexpr explicit operator bool() const { return number_ != 0; }
    constexpr Order operator*() const { return static_cast<Order>(number_ - 1); }
    constexpr Order value_or(Order other) const { return number_ != 0 ? **this : other; }

  private:
    std::uint8_t number_ = 0;
};

struct SiteChange {
    PerhapsOrder order, failure, before, after;  // the last two are fences
    bool removed = false;                        // of a fence
};

namespace sites {

extern bool on;  // is anything changed, or are sites to be listed?
void turn_on();

// Before there are threads. Ends the process if there is no room.
void add(std::uintptr_t pc, SiteKind, SiteChange const&);
// What is changed there.
SiteChange find(std::uintptr_t pc, SiteKind);
// False also if there is no room for it.
bool is_first_use(std::uintptr_t pc, SiteKind);

}  // namespace sites
}  // namespace fencepost
