// An exploration as bytes, so that it can go on in another process (resume=FILE): the states on the way of
// each walk, with their branches, and the loops that are known to wait. No execution may be running.
#pragma once

#include <string_view>

#include "sanitizer/schedule/exploration.hpp"
#include "sanitizer/system/text.hpp"

namespace fencepost::scheduler {

class ExplorationFile {
  public:
    static void write(Text&, Exploration const&);
    // Into one that is new, with as many walks. False if these are not the bytes of one.
    static bool read(std::string_view&, Exploration&);

  private:
    static void write_branches(Text&, Walk::Branch const*);
    static bool read_branches(std::string_view&, Walk::Branch*&);
    static void write_state(Text&, Walk::State const&);
    static bool read_state(std::string_view&, Walk::State&);
};

// Plain values, as they lie in memory.
template <class T>
void put_bytes(Text& out, T const& value) {
    out << std::string_view(reinterpret_cast<char const*>(&value), sizeof value);
}

// False if there are not as many left.
template <class T>
bool take_bytes(std::string_view& from, T& value) {
    if (from.size() < sizeof value) return false;
    __builtin_memcpy(&value, from.data(), sizeof value);
    from.remove_prefix(sizeof value);
    return true;
}

}  // namespace fencepost::scheduler
