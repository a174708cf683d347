// Which file of the process an address belongs to, and where in it.
#pragma once

#include <cstdint>

#include "sanitizer/system/elf_file.hpp"
#include "sanitizer/system/text.hpp"

namespace fencepost {

// A program that is built for everything is two: one for runs without a schedule, and embedded in its file
// the other (images/linker.cpp).
inline constexpr std::string_view embedded_section = ".fencepost.full";
inline ElfImage embedded_image(ElfImage const& program) {
    std::string_view const bytes = program.section(embedded_section);
    return {bytes.data(), bytes.size()};
}
bool program_embeds_image();
// Is it the one that runs? Set by the library that is linked into it.
extern bool embedded_image_runs;

struct ModuleOffset {
    char const* module = nullptr;  // absolute path; null if the address is in no file
    std::uintptr_t offset = 0;     // from where the module is loaded: what symbolisers take
    bool writable = false;         // in a segment of data
    bool embedded = false;         // in the image that the module's file has embedded
};

ModuleOffset find_module(std::uintptr_t address);

// As JSON, without the braces of an object.
void put_module(Text&, ModuleOffset const&);

}  // namespace fencepost
