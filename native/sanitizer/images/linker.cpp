// The program `ld` that compilers find where they are given its folder with -B: the system's linker, but a
// program that is linked with the library of mode races becomes two. It is linked once as in mode full,
// without ThreadSanitizer, and once as it is, with the first image embedded as a section that is not loaded,
// and with chooser.cpp in front, which chooses between the two when the program starts.
//
// Both links have the same objects: the compilers' instrumentation is the same in both modes. If only one of
// them succeeds, its result is the program, and one line says what it lacks. All else goes to the linker as
// it comes: shared objects, relocatable ones, questions.
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sanitizer/system/modules.hpp"

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// One level of quotation and backslashes, as in all response files of compilers and linkers.
Words words_of(std::istream& text) {
    Words words;
    std::string word;
    bool inside = false;
    char quote = '\0';
    for (char c = 0; text.get(c);) {
        bool const is_blank = std::isspace(static_cast<unsigned char>(c)) != 0;
        if (c == '\\') {
            inside = true;
            if (text.get(c)) word += c;
        } else if (quote != '\0' || (!is_blank && c != '\'' && c != '"')) {
            inside = true;
            if (c == quote)
                quote = '\0';
            else
                word += c;
        } else if (!is_blank) {
            inside = true;
            quote = c;
        } else if (inside) {
            words.push_back(word);
            word.clear();
            inside = false;
        }
    }
    if (inside) words.push_back(word);
    return words;
}

// With the words of response files (@FILE); one that cannot be read is a word itself.
void expand(Words const& words, Words& out, int depth = 0) {
    constexpr int deepest = 20;
    for (std::string const& word : words) {
        std::ifstream file;
        if (word.starts_with('@') && depth < deepest) file.open(word.substr(1));
        if (file.is_open())
            expand(words_of(file), out, depth + 1);
        else
            out.push_back(word);
    }
}

std::string name_of(std::string const& path) {
    return fs::path(path).filename().string();
}

// The first program of this name that is not in our own folder.
std::string find_linker(std::string const& name, fs::path const& own_folder) {
    for (char const* variable : {"COMPILER_PATH", "PATH"}) {
        char const* const value = std::getenv(variable);
        std::string_view rest(value == nullptr ? "" : value);
        while (!rest.empty()) {
            std::string_view const folder = rest.substr(0, rest.find(':'));
            rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
            fs::path const path = fs::path(folder.empty() ? "." : folder) / name;
            std::error_code error;
            if (access(path.c_str(), X_OK) == 0 && fs::is_regular_file(path, error) &&
                fs::canonical(path, error).parent_path() != own_folder)
                return path.string();
        }
    }
    return "/usr/bin/" + name;
}

std::vector<char*> pointers_to(Words& words) {
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

[[noreturn]] void become(Words words) {
    execv(words[0].c_str(), pointers_to(words).data());
    std::cerr << "fencepost: cannot start " << words[0] << ": " << std::strerror(errno) << "\n";
    std::exit(2);
}

// The exit code of a command; what it says goes to this file.
int run(Words words, fs::path const& output) {
    pid_t const child = fork();
    if (child == 0) {
        int const file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        dup2(file, 1);
        dup2(file, 2);
        become(std::move(words));
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0) return 2;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

void show(fs::path const& output) {
    std::ifstream file(output);
    if (file.peek() != std::ifstream::traits_type::eof()) std::cerr << file.rdbuf();
}

// What belongs to ThreadSanitizer, of gcc and of clang.
bool is_thread_sanitizer(std::string const& word) {
    std::string const name = name_of(word.substr(word.starts_with("--dynamic-list=") ? 15 : 0));
    return word == "-ltsan" || name.starts_with("libtsan") || name.starts_with("libclang_rt.tsan");
}

constexpr std::string_view library_of_races = "libfencepost_races.a";

// The command of the embedded image: with the library of mode full, and without ThreadSanitizer.
Words for_embedded(Words const& command, fs::path const& library, std::string const& output) {
    Words result;
    bool is_pie = false;
    for (std::size_t i = 0; i < command.size(); ++i) {
        std::string const& word = command[i];
        is_pie |= word == "-pie" || word == "--pie" || word == "-pic-executable";
        if (is_thread_sanitizer(word)) continue;
        if (name_of(word) == library_of_races)
            result.push_back(library.string());
        else if (word == "-o" || word == "--output")
            ++i;
        else if (!word.starts_with("--output=") && !(word.starts_with("-o") && !word.starts_with("-omagic")))
            result.push_back(word);
    }
    // A program that is not to be moved must not lie where the other one does.
    bool const is_gnu =
        name_of(result[0]) == "ld" || name_of(result[0]) == "ld.bfd" || name_of(result[0]) == "ld.gold";
    if (!is_pie) result.push_back(is_gnu ? "-Ttext-segment=0x40000000" : "--image-base=0x40000000");
    result.insert(result.end(), {"-o", output});
    return result;
}

std::string output_of(Words const& command) {
    std::string output = "a.out";
    for (std::size_t i = 0; i < command.size(); ++i) {
        std::string const& word = command[i];
        if ((word == "-o" || word == "--output") && i + 1 < command.size())
            output = command[i + 1];
        else if (word.starts_with("--output="))
            output = word.substr(9);
        else if (word.starts_with("-o") && word.size() > 2 && !word.starts_with("-omagic"))
            output = word.substr(2);
    }
    return output;
}

// An object file with nothing but the image, as a section that the linker takes over but no program loads. It
// is aligned as segments are, to be mapped from the file.
bool write_object(fs::path const& image, fs::path const& object) {
    constexpr std::uint64_t alignment = 0x10000;
    constexpr std::string_view no_code = ".note.GNU-stack";  // so it needs no stack that can be executed
    std::string const names = std::string("\0.shstrtab\0", 11) + std::string(no_code) + '\0' +
                              std::string(fencepost::embedded_section) + '\0';
    std::error_code error;
    std::uint64_t const bytes = fs::file_size(image, error);
    std::ifstream in(image, std::ios::binary);
    std::ofstream out(object, std::ios::binary);
    if (error || !in || !out) return false;

    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_ident[EI_OSABI] = ELFOSABI_GNU;
    header.e_type = ET_REL;
    Elf64_Ehdr of_image{};
    in.read(reinterpret_cast<char*>(&of_image), sizeof of_image);
    in.seekg(0);
    header.e_machine = of_image.e_machine;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof header;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 4;
    header.e_shstrndx = 1;
    header.e_shoff = sizeof header;

    constexpr std::uint64_t retain = 1 << 21;  // SHF_GNU_RETAIN: --gc-sections keeps it
    Elf64_Shdr sections[4] = {};
    sections[1].sh_name = 1;
    sections[1].sh_type = SHT_STRTAB;
    sections[1].sh_offset = sizeof header + sizeof sections;
    sections[1].sh_size = names.size();
    sections[1].sh_addralign = 1;
    sections[2].sh_name = 11;
    sections[2].sh_type = SHT_PROGBITS;
    sections[2].sh_addralign = 1;
    sections[3].sh_name = 11 + no_code.size() + 1;
    sections[3].sh_type = SHT_PROGBITS;
    sections[3].sh_flags = retain;
    sections[3].sh_offset = alignment;
    sections[3].sh_size = bytes;
    sections[3].sh_addralign = alignment;

    out.write(reinterpret_cast<char const*>(&header), sizeof header);
    out.write(reinterpret_cast<char const*>(sections), sizeof sections);
    out.write(names.data(), static_cast<std::streamsize>(names.size()));
    out.seekp(alignment);
    out << in.rdbuf();
    return static_cast<bool>(out);
}

// A folder for what lies between the two links, which goes with this.
class Workshop {
  public:
    Workshop() {
        std::error_code error;
        std::string pattern = (fs::temp_directory_path(error) / "fencepost-XXXXXX").string();
        if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
    }
    Workshop(Workshop const&) = delete;
    Workshop& operator=(Workshop const&) = delete;
    ~Workshop() {
        std::error_code error;
        if (!path_.empty()) fs::remove_all(path_, error);
    }
    explicit operator bool() const { return !path_.empty(); }
    fs::path operator/(char const* name) const { return path_ / name; }

  private:
    fs::path path_;
};

// ThreadSanitizer's functions are called before it is there, if the program has an instrumented malloc.
// `interceptor`: ThreadSanitizer's own malloc, where it is part of the program; `trampoline`: what leads
// there, from clang 17 on.
bool has_own_malloc(std::string const& program) {
    fencepost::ElfFile const file(program.c_str());
    std::uint64_t allocator = 0, interceptor = 0, trampoline = 0;
    file.image().for_symbols(SHT_DYNSYM, [&](Elf64_Sym const& symbol, std::string_view name) {
        if (symbol.st_shndx == SHN_UNDEF) return;
        if (name == "malloc") allocator = symbol.st_value;
        if (name == "__interceptor_malloc") interceptor = symbol.st_value;
        if (name == "__interceptor_trampoline_malloc") trampoline = symbol.st_value;
    });
    return allocator != interceptor && allocator != trampoline;
}

// The image goes where the program would have gone.
bool deliver(fs::path const& image, fs::path const& program) {
    std::error_code error;
    fs::remove(program, error);
    return fs::copy_file(image, program, fs::copy_options::overwrite_existing, error);
}

int link_both(Words const& command, fs::path const& folder) {
    fs::path const libraries = folder.parent_path();
    Workshop const workshop;
    if (!workshop) become(command);
    fs::path const image = workshop / "image", object = workshop / "image.o";
    fs::path const said = workshop / "said", said_first = workshop / "said-first";
    int const first =
        run(for_embedded(command, libraries / "libfencepost_full.a", image.string()), said_first);
    bool const has_image = first == 0 && write_object(image, object);

    Words second = command;
    if (has_image)
        second.insert(second.begin() + 1, {(libraries / "fencepost_chooser.o").string(), object.string()});
    int const code = run(second, said);
    std::string const output = output_of(command);
    bool const is_alone = code != 0 || (has_image && has_own_malloc(output));
    if (!is_alone || !has_image || !deliver(image, output)) {
        show(said);
        if (code == 0 && !has_image)
            std::cerr << "fencepost: " << output
                      << " has no schedules, because it cannot be linked in mode full\n";
        return code;
    }
    show(said_first);
    std::cerr << "fencepost: " << output << " watches plain accesses under a schedule only, because it "
              << (code != 0 ? "cannot be linked in mode races" : "has a malloc of its own") << "\n";
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    std::error_code error;
    fs::path const own = fs::canonical("/proc/self/exe", error);
    Words const given(arguments + 1, arguments + count);
    Words command{find_linker(name_of(own.string()), own.parent_path())};
    expand(given, command);
    bool makes_program = false;
    for (std::string const& word : command) makes_program |= name_of(word) == library_of_races;
    if (makes_program) return link_both(command, own.parent_path());
    command.resize(1);
    command.insert(command.end(), given.begin(), given.end());
    become(command);
}
