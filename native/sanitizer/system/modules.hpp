// Which file of the process an address belongs to, and where in it.
#pragma once

#include <cstdint>

namespace fencepost {

struct ModuleOffset {
    char const* module = nullptr;  // absolute path; null if the address is in no file
    std::uintptr_t offset = 0;     // from where the module is loaded: what symbolisers take
    bool writable = false;         // in a segment of data
};

ModuleOffset find_module(std::uintptr_t address);

}  // namespace fencepost
