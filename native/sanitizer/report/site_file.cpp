#include "sanitizer/report/site_file.hpp"

#include <link.h>

#include <algorithm>
#include <cstring>

#include "sanitizer/core/atomic_methods.hpp"
#include "sanitizer/core/sites.hpp"
#include "sanitizer/report/json.hpp"
#include "sanitizer/report/symbols.hpp"
#include "sanitizer/report/wording.hpp"
#include "sanitizer/system/elf_file.hpp"
#include "sanitizer/system/modules.hpp"
#include "sanitizer/system/options.hpp"
#include "sanitizer/system/row.hpp"
#include "sanitizer/system/syscalls.hpp"
#include "sanitizer/system/text.hpp"

namespace fencepost {
namespace {

constexpr int wrong_use = 2;

[[noreturn]] void refuse(std::uint64_t line, std::string_view why) {
    Text message;
    message << "fencepost: " << options.sites;
    if (line != 0) message << ":" << line;
    message << ": " << why << "\n";
    if (!options.quiet) message.write_to(2);
    json_bad_sites(line, why);
    for (;;) kernel::call(SYS_exit_group, wrong_use);
}

// -- The calls of atomic operations in the program, as return addresses --

// The functions of the library that stand for operations, and those of <atomic> that were not inlined.
class Operations {
  public:
    Operations(ElfImage const& program, std::uintptr_t loaded_at) {
        program.for_symbols(SHT_DYNSYM, [&](ElfW(Sym) const& symbol, char const* name) {
            if (symbol.st_shndx != SHN_UNDEF && is_operation(name)) begins_.add(loaded_at + symbol.st_value);
        });
        for (std::size_t i = 0; i < atomic_methods.count; ++i) begins_.add(atomic_methods.code[i].begin);
        std::sort(begins_.begin(), begins_.end());
    }
    bool has(std::uintptr_t address) const {
        return std::binary_search(begins_.begin(), begins_.end(), address);
    }

  private:
    static bool is_operation(std::string_view name) {
        if (name.starts_with("__wrap_")) name.remove_prefix(sizeof "__wrap_" - 1);
        return name.starts_with("__tsan_atomic") || name.starts_with("__atomic_") ||
               name.starts_with("__fencepost_");
    }

    Row<std::uintptr_t> begins_;
};

// The length of a call at this address, and what it calls; 0 if there is none.
#if defined(__x86_64__)
constexpr std::size_t call_length = 5, step = 1;
std::uintptr_t called_at(unsigned char const* code) {
    if (*code != 0xe8) return 0;
    std::int32_t distance = 0;
    std::memcpy(&distance, code + 1, sizeof distance);
    return reinterpret_cast<std::uintptr_t>(code) + call_length + static_cast<std::uintptr_t>(distance);
}
#else
constexpr std::size_t call_length = 4, step = 4;
std::uintptr_t called_at(unsigned char const* code) {
    std::uint32_t instruction = 0;
    std::memcpy(&instruction, code, sizeof instruction);
    if ((instruction & 0xfc000000) != 0x94000000) return 0;
    std::int32_t const distance = static_cast<std::int32_t>(instruction << 6) >> 4;
    return reinterpret_cast<std::uintptr_t>(code) + static_cast<std::uintptr_t>(distance);
}
#endif

void find_calls(Row<std::uintptr_t>& calls) {
    ElfFile const file("/proc/self/exe");
    ElfImage const program = embedded_image_runs ? embedded_image(file.image()) : file.image();
    auto const here = reinterpret_cast<std::uintptr_t>(&find_calls);
    std::uintptr_t const loaded_at = here - find_module(here).offset;
    Operations const operations(program, loaded_at);
    for (auto const& segment : program.segments()) {
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
        auto const* const begin = reinterpret_cast<unsigned char const*>(loaded_at + segment.p_vaddr);
        for (std::size_t at = 0; at + call_length <= segment.p_filesz; at += step) {
            if (!operations.has(called_at(begin + at))) continue;
            auto const pc = reinterpret_cast<std::uintptr_t>(begin + at + call_length);
            if (!atomic_methods.has(pc)) calls.add(pc);
        }
    }
    constexpr std::size_t slice = 100;  // as many as a symbolizer is asked for at once
    for (std::size_t i = 0; i < calls.size(); i += slice)
        look_up_symbols(calls.begin() + i, std::min(slice, calls.size() - i));
}

// -- Lines --

std::string_view cut(std::string_view text, std::size_t from, std::size_t to) {
    return {text.data() + from, to - from};
}

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

// The last word, which is cut off.
std::string_view last_word(std::string_view& text) {
    std::size_t begin = text.size();
    while (begin > 0 && !is_space(text[begin - 1])) --begin;
    std::string_view const word = cut(text, begin, text.size());
    text = trimmed(cut(text, 0, begin));
    return word;
}

bool read_kind(std::string_view word, SiteKind& kind) {
    for (int i = 0; i < site_kinds; ++i) {
        kind = static_cast<SiteKind>(i);
        if (word == name_of(kind)) return true;
    }
    return false;
}

bool read_order(std::string_view word, Order& order) {
    for (int i = 0; i <= static_cast<int>(Order::seq_cst); ++i) {
        order = static_cast<Order>(i);
        if (word == name_of(order)) return true;
    }
    return false;
}

bool can_have(SiteKind kind, Order order) {
    bool const reads_alone = kind == SiteKind::load, writes_alone = kind == SiteKind::store;
    if (kind == SiteKind::fence && order == Order::relaxed) return false;
    if (reads_alone) return order != Order::release && order != Order::acq_rel;
    if (writes_alone) return order != Order::acquire && order != Order::consume && order != Order::acq_rel;
    return true;
}

struct SourcePlace {
    std::string_view file;
    std::uint64_t line, column;  // 0: any
};

class Reading {
  public:
    void line(std::uint64_t number, std::string_view text) {
        number_ = number;
        std::size_t const comment = text.find('#');
        text = trimmed(cut(text, 0, std::min(comment, text.size())));
        if (text.empty()) return;
        SiteChange change;
        SiteKind kind{};
        std::string_view const whole = text;
        std::string_view word = last_word(text);
        std::string_view changes = "";
        while (word == "remove" || word.find('=') != word.npos) {
            changes = cut(whole, static_cast<std::size_t>(word.data() - whole.data()), whole.size());
            word = last_word(text);
        }
        if (!read_kind(word, kind))
            fail("expected an operation (load, store, exchange, fetch, compare_exchange or fence), not ",
                 word);
        if (changes.empty()) fail("expected a change, as in order=acquire");
        while (!changes.empty()) read_change(kind, last_word(changes), change);
        if (text.empty()) fail("expected a place: FILE:LINE:COLUMN or MODULE+0xOFFSET");
        if (!add_at_offset(text, kind, change)) add_at_source(text, kind, change);
    }

  private:
    [[noreturn]] void fail(std::string_view why, std::string_view word = {}) const {
        Text text;
        text << why;
        if (word.data() != nullptr) text << "`" << word << "`";
        refuse(number_, text.view());
    }

    void read_change(SiteKind kind, std::string_view word, SiteChange& change) const {
        if (word == "remove") {
            if (kind != SiteKind::fence) fail("only a fence can be removed");
            change.removed = true;
            return;
        }
        std::size_t const equals = word.find('=');
        std::string_view const name = cut(word, 0, equals), value = cut(word, equals + 1, word.size());
        Order order{};
        if (!read_order(value, order))
            fail("expected a memory order (relaxed, consume, acquire, release, acq_rel or seq_cst), not ",
                 value);
        PerhapsOrder* const part = name == "order"     ? &change.order
                                   : name == "failure" ? &change.failure
                                   : name == "before"  ? &change.before
                                   : name == "after"   ? &change.after
                                                       : nullptr;
        if (part == nullptr) fail("expected order, failure, before or after, not ", name);
        if (name == "failure" && kind != SiteKind::compare_exchange)
            fail("only a compare_exchange has an order of failure");
        SiteKind const which = name == "order" ? kind : name == "failure" ? SiteKind::load : SiteKind::fence;
        if (!can_have(which, order)) fail("this operation cannot have the order ", value);
        *part = order;
    }

    // MODULE+0xOFFSET
    bool add_at_offset(std::string_view place, SiteKind kind, SiteChange const& change) const {
        std::size_t const plus = place.rfind("+0x");
        if (plus == place.npos) return false;
        std::uint64_t offset = 0;
        for (char const c : cut(place, plus + 3, place.size())) {
            int const digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
            if (digit < 0) return false;
            offset = offset * 16 + static_cast<std::uint64_t>(digit);
        }
        std::string_view const module = cut(place, 0, plus);
        std::uintptr_t const begin = begin_of(module);
        if (begin == 0) fail("the program has no module ", module);
        // Of the call; the library knows operations by where they return to.
        std::uintptr_t const pc = return_address_of(begin + offset);
        if (pc == 0) fail("there is no operation at ", place);
        sites::add(pc, kind, change);
        return true;
    }

    // Events have the address of the last byte of the call.
    static std::uintptr_t return_address_of(std::uintptr_t address) {
        ModuleOffset const place = find_module(address);
        return place.module == nullptr || place.writable ? 0 : address + 1;
    }

    struct Search {
        std::string_view module;
        std::uintptr_t begin;
    };
    static std::uintptr_t begin_of(std::string_view module) {
        Search search{module, 0};
        dl_iterate_phdr(
            [](dl_phdr_info* info, std::size_t, void* data) {
                auto& wanted = *static_cast<Search*>(data);
                for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
                    if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
                    std::uintptr_t const in_it = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
                    ModuleOffset const place = find_module(in_it);
                    if (place.module == nullptr || !is_path(place.module, wanted.module)) return 0;
                    wanted.begin = in_it - place.offset;
                    return 1;
                }
                return 0;
            },
            &search);
        return search.begin;
    }

    // Is it this path, or the end of it from a slash on?
    static bool is_path(std::string_view path, std::string_view wanted) {
        while (wanted.starts_with("./")) wanted.remove_prefix(2);
        if (!path.ends_with(wanted) || wanted.empty()) return false;
        return path.size() == wanted.size() || path[path.size() - wanted.size() - 1] == '/';
    }

    // FILE:LINE or FILE:LINE:COLUMN
    void add_at_source(std::string_view place, SiteKind kind, SiteChange const& change) {
        SourcePlace wanted{};
        if (!split(place, wanted)) fail("expected a place, FILE:LINE:COLUMN or MODULE+0xOFFSET, not ", place);
        if (!has_calls_) find_calls(calls_);
        has_calls_ = true;
        bool found = false;
        for (std::uintptr_t const pc : calls_) {
            if (!is_at(of_the_program(*symbol_at(pc)), wanted)) continue;
            sites::add(pc, kind, change);
            found = true;
        }
        if (!found) fail("the program has no atomic operation at ", place);
    }

    static bool split(std::string_view place, SourcePlace& into) {
        std::uint64_t numbers[2];
        std::size_t count = 0;
        for (; count < 2; ++count) {
            std::size_t const colon = place.rfind(':');
            if (colon == place.npos || !parse_number(cut(place, colon + 1, place.size()), numbers[count]))
                break;
            place = cut(place, 0, colon);
        }
        into = {place, count == 0 ? 0 : numbers[count - 1], count == 2 ? numbers[0] : 0};
        return count != 0 && !place.empty() && into.line != 0;
    }

    static bool is_at(Symbol const& symbol, SourcePlace const& wanted) {
        if (symbol.line == nullptr) return false;
        std::string_view const text(symbol.line);
        std::size_t const colon = text.rfind(':');
        std::uint64_t line = 0, column = 0;
        if (colon == text.npos || !parse_number(cut(text, colon + 1, text.size()), line)) return false;
        if (symbol.column != nullptr) {
            std::string_view digits(symbol.column);
            while (!digits.empty() && digits.front() == ':') digits.remove_prefix(1);
            parse_number(digits, column);
        }
        bool const at_column = wanted.column == 0 || column == 0 || column == wanted.column;
        return line == wanted.line && at_column && is_path(cut(text, 0, colon), wanted.file);
    }

    std::uint64_t number_ = 0;
    bool has_calls_ = false;
    Row<std::uintptr_t> calls_;
};

}  // namespace

void read_sites() {
    if (options.list_sites) sites::turn_on();
    if (options.sites == nullptr) return;
    Text text;
    if (!read_file(options.sites, text)) refuse(0, "the file cannot be read");
    Reading reading;
    std::uint64_t number = 0;
    for (std::string_view rest = text.view(); !rest.empty();) {
        std::size_t const end = std::min(rest.find('\n'), rest.size());
        reading.line(++number, cut(rest, 0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
}

}  // namespace fencepost
