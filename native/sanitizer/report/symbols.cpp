#include "sanitizer/report/symbols.hpp"

#include <dlfcn.h>

#include "sanitizer/system/elf_file.hpp"
#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/modules.hpp"
#include "sanitizer/system/subprocess.hpp"
#include "sanitizer/system/text.hpp"

namespace fencepost {
namespace {

struct Known {
    std::uintptr_t address;
    Symbol* symbol;
    Known* next;
};
Known* known_code;
Known* known_data;

Known* find(Known* list, std::uintptr_t address) {
    while (list != nullptr && list->address != address) list = list->next;
    return list;
}

Known& add(Known*& list, std::uintptr_t address) {
    auto* const entry = static_cast<Known*>(memory::allocate(sizeof(Known)));
    *entry = {address, nullptr, list};
    list = entry;
    return *entry;
}

Symbol* new_symbol() {
    auto* const symbol = static_cast<Symbol*>(memory::allocate(sizeof(Symbol)));
    *symbol = Symbol{};
    return symbol;
}

std::string_view next_line(std::string_view& text) {
    std::size_t const end = text.find('\n');
    std::string_view const line(text.data(), end < text.size() ? end : text.size());
    text.remove_prefix(end < text.size() ? end + 1 : text.size());
    return line;
}

char const* unless_unknown(std::string_view text) {
    return text.empty() || text.starts_with("??") ? nullptr : keep(text);
}

// A path without `./` and `../`, which compilers leave in for included files; the same as `_tidy` in
// src/fencepost/sanitizer/answer/symbols.py. Null if it is unknown.
char const* tidy(std::string_view path) {
    if (path.empty() || path.starts_with("??")) return nullptr;
    auto* const tidied = static_cast<char*>(memory::allocate(path.size() + 1));
    std::size_t const root = path.starts_with('/') ? 1 : 0;
    std::size_t size = 0;
    if (root != 0) tidied[size++] = '/';
    while (!path.empty()) {
        std::size_t const slash = path.find('/');
        std::string_view const part(path.data(), slash < path.size() ? slash : path.size());
        path.remove_prefix(slash < path.size() ? slash + 1 : path.size());
        if (part.empty() || part == ".") continue;
        std::string_view const before(tidied + root, size - root);
        std::size_t const last = before.rfind('/') == before.npos ? 0 : before.rfind('/') + 1;
        std::string_view const parent(before.data() + last, before.size() - last);
        if (part == ".." && !before.empty() && parent != "..") {
            size = root + (last == 0 ? 0 : last - 1);
            continue;
        }
        if (!before.empty()) tidied[size++] = '/';
        for (char const c : part) tidied[size++] = c;
    }
    tidied[size] = '\0';
    return tidied;
}

// file:line:column, where the column may be missing; addr2line may add a remark.
void read_position(std::string_view text, Symbol& symbol) {
    if (std::size_t const remark = text.find(" (discriminator"); remark != text.npos)
        text.remove_suffix(text.size() - remark);
    std::size_t colons[2] = {0, 0};
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != ':') continue;
        colons[0] = colons[1];
        colons[1] = i;
    }
    if (colons[0] == 0) {
        symbol.line = tidy(text);
        return;
    }
    symbol.line = tidy({text.data(), colons[1]});
    symbol.column = keep({text.data() + colons[1], text.size() - colons[1]});
}

// Pairs of lines, function and file:line, innermost first; an empty line ends them.
Symbol* read_frames(std::string_view& text) {
    Symbol* first = nullptr;
    Symbol** place = &first;
    for (std::string_view name = next_line(text); !name.empty(); name = next_line(text)) {
        Symbol* const symbol = new_symbol();
        symbol->function = unless_unknown(name);
        read_position(next_line(text), *symbol);
        *place = symbol;
        place = &symbol->next;
    }
    return first;
}

// The symbolizer's program, once found.
char const* find_symbolizer() {
    static char const* found;
    static bool searched;
    if (searched) return found;
    searched = true;
    for (char const* name :
         {"llvm-symbolizer", "llvm-symbolizer-19", "llvm-symbolizer-18", "llvm-symbolizer-17",
          "llvm-symbolizer-16", "llvm-symbolizer-15", "llvm-symbolizer-14"}) {
        char const* const arguments[] = {name, "--version", nullptr};
        Text output;
        if (run_and_read(arguments, output)) return found = name;
    }
    return nullptr;
}

constexpr std::size_t most_questions = 128;

struct Questions {
    char const* arguments[most_questions + 8];
    Known* answers[most_questions];
    std::size_t count = 0;
};

// The file that a symbolizer is to look into. An embedded image gets one without a name, as long as this
// lives; the symbolizer's process inherits it.
class SymbolFile {
  public:
    SymbolFile() = default;
    SymbolFile(SymbolFile const&) = delete;
    SymbolFile& operator=(SymbolFile const&) = delete;
    ~SymbolFile() {
        if (descriptor_ >= 0) kernel::call(SYS_close, descriptor_);
    }

    char const* of(ModuleOffset const& place) {
        if (!place.embedded) return place.module;
        if (descriptor_ < 0) descriptor_ = copy_of_image(place.module);
        Text path;
        path << "/proc/self/fd/" << static_cast<std::uint64_t>(descriptor_);
        return keep(path.view());
    }

  private:
    // Its number is above those that the symbolizer's own streams get.
    static long copy_of_image(char const* path) {
        ElfFile const file(path);
        ElfImage const image = embedded_image(file.image());
        long const copy = kernel::call(SYS_memfd_create, "symbols", 0);
        for (std::size_t written = 0; written < image.size();) {
            long const bytes = kernel::call(SYS_write, copy, image.begin() + written, image.size() - written);
            if (bytes <= 0) break;
            written += static_cast<std::size_t>(bytes);
        }
        constexpr int least = 10;
        long const moved = kernel::call(SYS_fcntl, copy, F_DUPFD, least);
        kernel::call(SYS_close, copy);
        return moved;
    }

    long descriptor_ = -1;
};

char const* question(char const* file, ModuleOffset const& place) {
    Text text;
    text << "CODE \"" << file << "\" " << Hex{place.offset};
    return keep(text.view());
}

void ask_llvm(char const* program, Questions& questions, std::size_t begin) {
    questions.arguments[0] = program;
    questions.arguments[begin + questions.count] = nullptr;
    Text output;
    if (!run_and_read(questions.arguments, output)) return;
    std::string_view text = output.view();
    for (std::size_t i = 0; i < questions.count; ++i) questions.answers[i]->symbol = read_frames(text);
}

// addr2line knows one file at a time.
void ask_addr2line(Known& entry, char const* file, ModuleOffset const& place) {
    Text offset;
    offset << Hex{place.offset} << std::string_view("\0", 1);
    char const* const arguments[] = {"addr2line",          "-f",   "-C", "-i", "-e", file,
                                     offset.view().data(), nullptr};
    Text output;
    if (!run_and_read(arguments, output)) return;
    std::string_view text = output.view();
    entry.symbol = read_frames(text);
}

Symbol* from_dynamic_table(std::uintptr_t address) {
    Dl_info info;
    Symbol* const symbol = new_symbol();
    if (dladdr(reinterpret_cast<void*>(address), &info) != 0) symbol->function = info.dli_sname;
    return symbol;
}

}  // namespace

void look_up_symbols(std::uintptr_t const* pcs, std::size_t count) {
    char const* const llvm = find_symbolizer();
    Questions questions;
    SymbolFile file;
    constexpr std::size_t begin = 2;
    questions.arguments[1] = "--demangle";
    for (std::size_t i = 0; i < count && questions.count < most_questions; ++i) {
        std::uintptr_t const address = pcs[i] - 1;
        if (find(known_code, address) != nullptr) continue;
        Known& entry = add(known_code, address);
        ModuleOffset const place = find_module(address);
        if (place.module == nullptr) continue;
        if (llvm == nullptr) {
            ask_addr2line(entry, file.of(place), place);
            continue;
        }
        questions.arguments[begin + questions.count] = question(file.of(place), place);
        questions.answers[questions.count++] = &entry;
    }
    if (questions.count != 0) ask_llvm(llvm, questions, begin);
}

Symbol const* symbol_at(std::uintptr_t pc) {
    std::uintptr_t const address = pc - 1;
    Known* entry = find(known_code, address);
    if (entry == nullptr) entry = &add(known_code, address);
    if (entry->symbol == nullptr || entry->symbol->function == nullptr)
        entry->symbol = from_dynamic_table(address);
    return entry->symbol;
}

namespace {

bool same_text(char const* a, char const* b) {
    return a != nullptr && b != nullptr && std::string_view(a) == std::string_view(b);
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != text.npos;
}

bool is_ours(Symbol const& s) {
    std::string_view const function(s.function == nullptr ? "" : s.function);
    std::string_view const line(s.line == nullptr ? "" : s.line);
    return function.starts_with("fencepost::") || contains(line, "native/sanitizer/hooks/") ||
           contains(line, "native/sanitizer/schedule/") || contains(line, "native/sanitizer/races/") ||
           contains(line, "native/sanitizer/core/");
}

// What calls the function that a thread or the program begins with.
bool is_plumbing(Frames::Frame const& frame) {
    Symbol const& s = *frame.symbol;
    std::string_view const function(s.function == nullptr ? "" : s.function);
    std::string_view const line(s.line == nullptr ? "" : s.line);
    for (std::string_view const name :
         {"_start", "start_thread", "clone", "clone3", "__clone3", "execute_native_thread_routine",
          "fp_run_test", "fp_run_tests", "fp_run_thread"})
        if (function == name) return true;
    for (std::string_view const part : {"std::__invoke", "std::thread::_Invoker", "std::thread::_State_impl"})
        if (contains(function, part)) return true;
    if (contains(line, "/c++/"))
        for (std::string_view const part : {"/invoke.h:", "/std_thread.h:", "/thread.h:", "/thread:"})
            if (contains(line, part)) return true;
    if (function.starts_with("__libc_start") || is_ours(s)) return true;
    if (!line.empty()) return false;  // addr2line names functions there after whatever comes before
    char const* const module = find_module(frame.pc - 1).module;
    return module != nullptr && (contains(module, "/libstdc++.") || contains(module, "/libc++.") ||
                                 contains(module, "/libc.") || contains(module, "/libpthread."));
}

}  // namespace

bool comes_with_the_compiler(std::string_view line) {
    return line.starts_with("/usr/lib/") ||
           (line.starts_with("/usr/include/") && line.find("/c++/") != line.npos) ||
           line.find("/fencepost/sanitizer/include/") != line.npos;
}

Frames frames_of(std::uintptr_t const* pcs, std::size_t count) {
    Frames frames;
    auto const add_all = [&](bool with_ours) {
        for (std::size_t i = 0; i < count; ++i)
            for (Symbol const* s = symbol_at(pcs[i]); s != nullptr && frames.count < Frames::most;
                 s = s->next)
                if (with_ours || frames.count != 0 || !is_ours(*s)) frames.list[frames.count++] = {s, pcs[i]};
    };
    add_all(false);
    if (frames.count == 0) add_all(true);
    for (std::size_t i = 0; i < frames.count; ++i)
        if (same_text(frames.list[i].symbol->function, "main")) frames.count = i + 1;
    while (frames.count > 1 && is_plumbing(frames.list[frames.count - 1])) --frames.count;
    return frames;
}

bool at_same_position(std::uintptr_t first, std::uintptr_t second) {
    if (first == second) return true;
    if (first == 0 || second == 0) return false;
    Symbol const &a = of_the_program(*symbol_at(first)), &b = of_the_program(*symbol_at(second));
    return same_text(a.line, b.line) && same_text(a.column, b.column);
}

Symbol const& of_the_program(Symbol const& innermost) {
    Symbol const* s = &innermost;
    while (s != nullptr && s->line != nullptr && comes_with_the_compiler(s->line)) s = s->next;
    return s != nullptr ? *s : innermost;
}

namespace {

// file, of file:line.
std::string_view file_of(Symbol const& s) {
    std::string_view const line(s.line == nullptr ? "" : s.line);
    std::size_t const colon = line.rfind(':');
    return {line.data(), colon < line.size() ? colon : line.size()};
}

bool is_header(std::string_view file) {
    std::size_t const dot = file.rfind('.');
    if (dot == file.npos || file.find('/', dot) != file.npos) return !file.empty();
    return dot + 1 < file.size() && (file[dot + 1] == 'h' || file[dot + 1] == 'H');
}

}  // namespace

Symbol const* caller_of_wrapper(Symbol const& accessing) {
    std::string_view const file = file_of(accessing);
    if (!is_header(file)) return nullptr;
    Symbol const* s = accessing.next;
    while (s != nullptr && (s->line == nullptr || file_of(*s) == file || comes_with_the_compiler(s->line)))
        s = s->next;
    return s;
}

bool come_from_same_source(std::uintptr_t first, std::uintptr_t second) {
    std::uintptr_t const pcs[] = {first, second};
    look_up_symbols(pcs, 2);
    Symbol const *a = symbol_at(first), *b = symbol_at(second);
    for (; a != nullptr && b != nullptr; a = a->next, b = b->next) {
        if (!same_text(a->line, b->line) || !same_text(a->column, b->column)) return false;
        if (!comes_with_the_compiler(a->line)) return true;
    }
    return false;
}

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::string_view after(std::string_view text, std::size_t bytes) {
    return {text.data() + bytes, text.size() - bytes};
}

// Of several variables with this name one has a number behind a dot, and so have the parts that clang makes
// of one.
std::string_view without_number(std::string_view name) {
    for (;;) {
        std::size_t const dot = name.rfind('.');
        if (dot == name.npos || dot + 1 == name.size()) return name;
        for (char const c : after(name, dot + 1))
            if (!is_digit(c)) return name;
        name.remove_suffix(name.size() - dot);
    }
}

// A part of a mangled name with its length before it; empty if there is none.
std::string_view take_part(std::string_view& rest) {
    if (!rest.empty() && rest[0] == 'L') rest.remove_prefix(1);
    std::size_t length = 0;
    for (; !rest.empty() && is_digit(rest[0]); rest.remove_prefix(1))
        length = 10 * length + static_cast<std::size_t>(rest[0] - '0');
    if (length == 0 || length > rest.size()) return {};
    std::string_view const part(rest.data(), length);
    rest.remove_prefix(length);
    return part;
}

// A name in namespaces or by itself; `rest` is what follows it. False if it is anything else.
bool put_parts(Text& out, std::string_view& rest) {
    bool const nested = rest.starts_with('N');
    if (nested) rest.remove_prefix(rest.starts_with("NK") ? 2 : 1);
    bool some = nested && rest.starts_with("St");
    if (some) {
        rest.remove_prefix(2);
        out << "std";
    }
    while (nested || !some) {
        if (nested && some && rest.starts_with('E')) {
            rest.remove_prefix(1);
            return true;
        }
        std::string_view const part = take_part(rest);
        if (part.empty()) return false;
        out << (some ? "::" : "") << (part == "_GLOBAL__N_1" ? "(anonymous namespace)" : part);
        some = true;
    }
    return true;
}

// What a compiler appends to one of several variables of a function: _1, __12_, or nothing.
bool is_number_of_local(std::string_view text) {
    return text.empty() || (text.size() >= 2 && text[0] == '_' && (is_digit(text[1]) || text[1] == '_'));
}

// A variable of a function: _ZZN3app3runEvE5ready. If the function is a template, the variable alone.
bool put_local(Text& out, std::string_view rest) {
    Text function;
    bool const known = put_parts(function, rest) && !rest.starts_with('I');
    for (; !rest.empty(); rest.remove_prefix(1)) {
        if (rest[0] != 'E') continue;
        std::string_view end = after(rest, 1);
        std::string_view const local = take_part(end);
        if (local.empty() || !is_number_of_local(end)) continue;
        if (known) out << function.view() << "()::";
        out << local;
        return true;
    }
    return false;
}

// A variable in namespaces, of a function, or static: _ZN3app5readyE, _ZZ3runvE5ready, _ZL5ready; in C
// run.ready (clang). Other names stay as they are. The same as `readable` in answer/elf_data.py.
void put_readable(Text& out, std::string_view name) {
    name = without_number(name);
    Text readable;
    std::string_view rest = name;
    if (name.starts_with("_ZZ")) {
        rest.remove_prefix(3);
        out << (put_local(readable, rest) ? readable.view() : name);
    } else if (name.starts_with("_Z")) {
        rest.remove_prefix(2);
        out << (put_parts(readable, rest) && rest.empty() ? readable.view() : name);
    } else if (std::size_t const dot = name.find('.'); dot != name.npos && dot != 0) {
        out << std::string_view(name.data(), dot) << "()::" << after(name, dot + 1);
    } else {
        out << name;
    }
}

struct Variable {
    std::uintptr_t begin = 0;
    std::size_t size = 0;
    std::string_view name;

    bool operator<(Variable const& other) const {
        if (begin != other.begin) return begin < other.begin;
        return size != other.size ? size < other.size : name < other.name;
    }
};

Symbol* variable_at(std::uintptr_t address) {
    Symbol* const symbol = new_symbol();
    ModuleOffset const place = find_module(address);
    if (place.module == nullptr) return symbol;
    ElfFile const file(place.module);
    ElfImage const image = place.embedded ? embedded_image(file.image()) : file.image();
    Variable last;
    for (std::uint32_t const table : {SHT_SYMTAB, SHT_DYNSYM}) {
        image.for_symbols(table, [&](ElfW(Sym) const& s, char const* name) {
            bool const is_variable =
                ELF64_ST_TYPE(s.st_info) == STT_OBJECT && s.st_shndx != SHN_UNDEF && s.st_size != 0;
            if (!is_variable || s.st_value > place.offset) return;
            if (Variable const it{s.st_value, s.st_size, name}; last < it) last = it;
        });
    }
    if (place.offset - last.begin >= last.size) return symbol;
    Text name;
    put_readable(name, last.name);
    if (place.offset != last.begin) name << "+" << std::uint64_t{place.offset - last.begin};
    symbol->function = keep(name.view());
    symbol->size = last.size;
    return symbol;
}

}  // namespace

Symbol const& global_at(std::uintptr_t address) {
    Known* entry = find(known_data, address);
    if (entry == nullptr) {
        entry = &add(known_data, address);
        entry->symbol = variable_at(address);
    }
    return *entry->symbol;
}

}  // namespace fencepost
