#include "sanitizer/system/modules.hpp"

#include <elf.h>
#include <link.h>

#include "sanitizer/system/syscalls.hpp"

namespace fencepost {

bool embedded_image_runs;

bool program_embeds_image() {
    return embedded_image(ElfFile("/proc/self/exe").image()).header() != nullptr;
}

namespace {

char program_path[4096];

char const* main_program() {
    if (program_path[0] == '\0') {
        long const length =
            kernel::call(SYS_readlink, "/proc/self/exe", program_path, sizeof program_path - 1);
        if (length > 0) program_path[length] = '\0';
    }
    return program_path;
}

struct Search {
    std::uintptr_t address;
    ModuleOffset found;
};

int look_in_module(dl_phdr_info* info, std::size_t, void* data) {
    auto& search = *static_cast<Search*>(data);
    for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
        auto const& segment = info->dlpi_phdr[i];
        std::uintptr_t const begin = info->dlpi_addr + segment.p_vaddr;
        if (segment.p_type != PT_LOAD || search.address < begin || search.address >= begin + segment.p_memsz)
            continue;
        bool const is_program = info->dlpi_name == nullptr || info->dlpi_name[0] == '\0';
        search.found = {is_program ? main_program() : info->dlpi_name, search.address - info->dlpi_addr,
                        (segment.p_flags & PF_W) != 0, is_program && embedded_image_runs};
        return 1;
    }
    return 0;
}

}  // namespace

ModuleOffset find_module(std::uintptr_t address) {
    Search search{address, {}};
    dl_iterate_phdr(look_in_module, &search);
    return search.found;
}

void put_module(Text& out, ModuleOffset const& place) {
    out << "\"module\":" << Quoted{place.module} << ",\"offset\":\"" << Hex{place.offset} << "\"";
    if (place.embedded) out << ",\"embedded\":true";
}

}  // namespace fencepost
