// The run-time library's readers of what users and other programs write, many inputs in one process:
//
//   runtime_readers READER FILE
//
// An input on standard input is its length, four bytes, and itself; the answer is a byte: taken or refused.
// FILE is written for what is read from a file; FILE.said has what is said of the last input. Blocks of the
// library's memory are those of malloc here, so that AddressSanitizer sees where they end. A mistake ends the
// process.
//
// links: sanitizer/schedule/exploration.cpp sanitizer/schedule/saved_exploration.cpp
// links: sanitizer/schedule/rounds.cpp
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "sanitizer/system/text.hpp"

// Instead of ending the process, these throw.
#define stop_with stop_with_in_earnest
#include "sanitizer/system/text.cpp"
#undef stop_with

// clang-format off
#define private public  // for what is found once
#include "sanitizer/report/site_file.cpp"
#undef private
#include "sanitizer/report/suppressions.cpp"
#define after rest_after  // two files have one
#include "sanitizer/report/symbols.cpp"
#undef after
// clang-format on
#include "sanitizer/schedule/decisions.cpp"
#include "sanitizer/schedule/saved_exploration.hpp"
#include "sanitizer/system/options.cpp"

namespace {

struct Refused {};

std::unordered_set<void*> blocks;  // since the input came
std::string symbolizer_output;

}  // namespace

namespace fencepost {

void stop_with(std::string_view) {
    throw Refused();
}
void json_bad_sites(std::uint64_t, std::string_view) {
    throw Refused();
}

namespace memory {

void* allocate(std::size_t bytes) {
    return *blocks.insert(std::malloc(bytes)).first;
}
void release(void* block, std::size_t) {
    blocks.erase(block);
    std::free(block);
}
std::size_t usable(std::size_t bytes) {
    return bytes;
}
void* shared_pages(std::size_t bytes) {
    return std::calloc(bytes, 1);
}

}  // namespace memory

bool run_and_read(char const* const*, Text& output) {
    output << symbolizer_output;
    return true;
}

// There are two modules: this program, in which there is one operation, and a library with all else.
extern "C" char __ehdr_start, _end;
extern "C" [[gnu::noinline, gnu::used]] void __fencepost_operation() {
    asm volatile("");
}
extern "C" [[gnu::used]] int makes_an_operation() {
    __fencepost_operation();
    return 1;
}
bool embedded_image_runs = false;
ModuleOffset find_module(std::uintptr_t address) {
    auto const begin = reinterpret_cast<std::uintptr_t>(&__ehdr_start);
    if (address >= begin && address < reinterpret_cast<std::uintptr_t>(&_end))
        return {"/tmp/program", address - begin, false, false};
    return {"/usr/lib/libthread.so", address & 0xffff, false, false};
}

AtomicMethods atomic_methods{nullptr, 0};
bool AtomicMethods::has(std::uintptr_t) const {
    return false;
}
bool sites::on = false;
void sites::add(std::uintptr_t, SiteKind, SiteChange const&) {}
void sites::turn_on() {}

void symbolise(Finding const& f) {
    look_up_symbols(f.by.frames, f.by.count);
}
void symbolise(RaceFinding const& f) {
    look_up_symbols(f.by.stack.frames, f.by.stack.count);
}

scheduler::restart::OwnCalls::OwnCalls() : outer_(false) {}
scheduler::restart::OwnCalls::~OwnCalls() = default;

}  // namespace fencepost

using namespace fencepost;

namespace {

constexpr char const* some_frames =
    "f(int)\n/tmp/a.c:3:5\nmain\n/tmp/a.c:12:1\n\nstd::atomic<int>::load()\n/usr/include/c++/12/"
    "atomic:3:4\n\n";
std::uintptr_t const frames[] = {reinterpret_cast<std::uintptr_t>(&makes_an_operation) + 5, 0x20008};

char const* path;
int file;

void put_in_file(std::string const& input) {
    if (ftruncate(file, 0) != 0 || pwrite(file, input.data(), input.size(), 0) < 0) std::abort();
}

void forget_symbols() {
    known_code = known_data = nullptr;
}

template <class Found>
void match_patterns(Found const& found) {
    static_cast<void>(is_suppressed(found));
}

void read_suppressions_of(std::string const& input) {
    put_in_file(input);
    options.suppressions = path;
    patterns = nullptr;
    read_suppressions();
    symbolizer_output = some_frames;
    static Finding finding;
    static RaceFinding race;
    for (Stack* const stack : {&finding.by, &race.by.stack}) {
        stack->count = std::size(frames);
        std::copy(std::begin(frames), std::end(frames), stack->frames);
    }
    match_patterns(finding);
    match_patterns(race);
    patterns = nullptr;
}

// To look for the operations of this program takes most of the time, so it is done for some inputs only.
void read_sites_of(std::string const& input) {
    static std::vector<std::uintptr_t> operations;
    static unsigned inputs;
    symbolizer_output = some_frames;
    if (inputs++ % 100 == 0) {
        Row<std::uintptr_t> calls;
        find_calls(calls);
        operations.assign(calls.begin(), calls.end());
        forget_symbols();
        put_in_file(input);
        options.sites = path;
        return read_sites();
    }
    look_up_symbols(operations.data(), operations.size());
    options.sites = path;
    Reading reading;
    for (auto const call : operations) reading.calls_.add(call);
    reading.has_calls_ = true;
    std::uint64_t number = 0;
    for (std::string_view rest = input; !rest.empty();) {
        std::size_t const end = std::min(rest.find('\n'), rest.size());
        reading.line(++number, rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
}

void read_decisions_of(std::string const& input) {
    using namespace scheduler;
    put_in_file(input);
    decisions::reader = {};
    decisions::open_to_read(path);
    void* const text = const_cast<char*>(decisions::reader.end) - input.size();
    struct Unmap {
        void* text;
        std::size_t size;
        ~Unmap() { munmap(text, size); }
    } const unmap{text, input.size()};
    for (int i = 0; i < 100; ++i) decisions::read_choice();
    for (decisions::Run run; decisions::read(run);) {
    }
}

void read_exploration(std::string const& input) {
    using namespace scheduler;
    Exploration exploration(ScFences::commute);
    Walk one(exploration), other(exploration);
    std::string_view rest = input;
    if (!ExplorationFile::read(rest, exploration)) throw Refused();
    Text again;
    ExplorationFile::write(again, exploration);
}

// Some executions, and what would be written after them, as an example.
void write_exploration() {
    using namespace scheduler;
    Exploration exploration(ScFences::commute);
    Walk one(exploration), other(exploration);
    Event events[3]{};
    for (std::uint32_t i = 0; i < 3; ++i) {
        events[i].thread = i % 2;
        events[i].act = i == 0 ? Act::write : Act::read;
        events[i].object = 64;
        events[i].size = 4;
        events[i].after = no_event;
    }
    if (!one.advance()) std::abort();
    one.completed(events, 3);
    Text text;
    ExplorationFile::write(text, exploration);
    std::fwrite(text.view().data(), 1, text.view().size(), stdout);
}

void read_options_of(std::string const& input) {
    options = {};
    std::string setting = "FENCEPOST_OPTIONS=" + input;
    char* environment[] = {setting.data(), nullptr};
    read_options(environment);
    if (options.json != nullptr) with_numbers(options.json);
}

void read_symbols_of(std::string const& input) {
    symbolizer_output = input;
    look_up_symbols(frames, std::size(frames));
    Frames const found = frames_of(frames, std::size(frames));
    for (std::size_t i = 0; i < found.count; ++i) {
        of_the_program(*found.list[i].symbol);
        caller_of_wrapper(*found.list[i].symbol);
    }
    at_same_position(frames[0], frames[1]);
    come_from_same_source(frames[0], frames[1]);
}

struct InputReader {
    std::string_view name;
    void (*read)(std::string const&);
};
constexpr InputReader readers[] = {
    {"suppressions", read_suppressions_of}, {"sites", read_sites_of},     {"schedules", read_decisions_of},
    {"states", read_exploration},           {"options", read_options_of}, {"symbolizer", read_symbols_of},
};

// Whether it is taken, and without a warning.
bool is_taken(InputReader const& reader, std::string const& input, int warnings) {
    bool taken = true;
    try {
        reader.read(input);
    } catch (Refused const&) {
        taken = false;
    }
    forget_symbols();
    for (void* const block : blocks) std::free(block);
    blocks.clear();
    bool const warned = lseek(warnings, 0, SEEK_CUR) != 0;
    if (warned && (ftruncate(warnings, 0) != 0 || lseek(warnings, 0, SEEK_SET) != 0)) std::abort();
    return taken && !warned;
}

bool read_all(void* into, std::size_t bytes) {
    return std::fread(into, 1, bytes, stdin) == bytes;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2 && argv[1] == std::string_view("write-exploration")) {
        write_exploration();
        return 0;
    }
    InputReader const* const reader =
        std::find_if(std::begin(readers), std::end(readers),
                     [&](InputReader const& one) { return argc == 3 && one.name == argv[1]; });
    if (reader == std::end(readers)) return 2;
    path = argv[2];
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    int const warnings = open((std::string(path) + ".said").c_str(), O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (file < 0 || warnings < 0 || dup2(warnings, 2) < 0) return 2;
    for (std::uint32_t size = 0; read_all(&size, sizeof size);) {
        std::string input(size, '\0');
        if (!read_all(input.data(), size)) return 2;
        char const answer = is_taken(*reader, input, warnings) ? '1' : '0';
        if (write(1, &answer, 1) != 1) return 2;
    }
}
