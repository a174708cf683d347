// Two threads use the same memory, one after the other, in the way that the first argument names. The second
// argument says how the first passes on that it is done: `ordered` by release and acquire, or `relaxed`.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

struct [[gnu::packed]] Packed {
    char before;
    long value;
};
struct Wide {
    long words[9];
};
struct Base {
    virtual ~Base() = default;
    virtual int number() const { return 1; }
};
struct Derived : Base {
    int number() const override { return 2; }
};

// Others might read them, so the compiler leaves out no write.
alignas(16) char bytes[64];
short two;
int four;
long eight;
__int128 sixteen;
Packed packed;
Wide wide, other_wide;
char *text, *block;
Base *object;
alignas(8) std::atomic<int> atomic;
thread_local volatile int sink;

namespace {

// A size that the compiler does not know, so that it calls the function.
std::size_t volatile some = 40;

struct Way {
    char const *name;
    void (*first)(), (*second)();
};
Way const ways[] = {
    {"one_byte", [] { bytes[3] = 1; }, [] { sink = bytes[3]; }},
    {"two_bytes", [] { two = 1; }, [] { two = 2; }},
    {"four_bytes", [] { sink = four; }, [] { four = 2; }},
    {"eight_bytes", [] { eight = 1; }, [] { sink = static_cast<int>(eight); }},
    {"sixteen_bytes", [] { sixteen = 1; }, [] { sixteen = 2; }},
    {"part_of_a_word", [] { eight = 1; }, [] { reinterpret_cast<char volatile *>(&eight)[7] = 1; }},
    {"unaligned", [] { packed.value = 1; }, [] { sink = static_cast<int>(packed.value); }},
    {"a_structure", [] { wide = other_wide; }, [] { wide.words[7] = 1; }},
    {"memcpy", [] { memcpy(bytes, text, some); }, [] { bytes[39] = 1; }},
    {"memcpy_reads", [] { memcpy(text, bytes, some); }, [] { bytes[20] = 1; }},
    {"memmove", [] { memmove(bytes, bytes + 8, some); }, [] { bytes[1] = 1; }},
    {"memset", [] { memset(bytes, 1, some); }, [] { sink = bytes[17]; }},
    {"memcmp", [] { sink = memcmp(bytes, text, some); }, [] { bytes[9] = 1; }},
    {"strlen", [] { sink = static_cast<int>(strlen(text)); }, [] { text[2] = 'x'; }},
    {"strcmp", [] { sink = strcmp(text, bytes); }, [] { text[0] = 'x'; }},
    {"strcpy", [] { strcpy(bytes, text); }, [] { sink = bytes[4]; }},
    {"a_string", [] { std::string(text).copy(bytes, some); }, [] { bytes[0] = 1; }},
    {"free", [] { block[5] = 1; }, [] { free(block); }},
    {"delete", [] { sink = object->number(); }, [] { delete object; }},
    {"calloc", [] { block = static_cast<char *>(calloc(1, 40)); }, [] { sink = block[30]; }},
    {"a_table_of_functions", [] { new (object) Derived; }, [] { sink = object->number(); }},
    {"atomic_and_plain", [] { atomic = 1; }, [] { *reinterpret_cast<int volatile *>(&atomic) = 2; }},
    {"plain_and_atomic", [] { sink = *reinterpret_cast<int volatile *>(&atomic); }, [] { atomic = 2; }},
};
// No races, however the threads are ordered.
Way const harmless[] = {
    {"neighbours", [] { bytes[3] = 1; }, [] { bytes[4] = 1; }},
    {"readers", [] { sink = four; }, [] { sink = four; }},
    {"atomics", [] { atomic = 1; }, [] { atomic = 2; }},
    {"atomic_readers", [] { sink = atomic; }, [] { sink = *reinterpret_cast<int volatile *>(&atomic); }},
    {"shorter_text", [] { sink = strcmp(text, bytes); }, [] { text[3] = 'x'; }},
};

std::atomic<bool> done;

void run(Way const &way, std::memory_order release, std::memory_order acquire) {
    std::thread first([&] {
        way.first();
        done.store(true, release);
    });
    std::thread second([&] {
        while (!done.load(acquire)) {
        }
        way.second();
    });
    first.join();
    second.join();
}

// What passes through a pipe orders too.
int pipe_orders() {
    int ends[2];
    if (pipe(ends) != 0) return 1;
    std::thread first([&] {
        four = 1;
        if (write(ends[1], "x", 1) != 1) abort();
    });
    std::thread second([&] {
        char c;
        if (read(ends[0], &c, 1) != 1) abort();
        four = 2;
    });
    first.join();
    second.join();
    return 0;
}

}  // namespace

int main(int count, char **arguments) {
    if (count == 1) {
        for (Way const &way : ways) printf("%s\n", way.name);
        return 0;
    }
    std::string const name = arguments[1];
    if (name == "pipe") return pipe_orders();
    bool const ordered = std::string(arguments[2]) == "ordered";
    text = static_cast<char *>(malloc(64));
    block = static_cast<char *>(malloc(64));
    strcpy(text, "some text that is as long as forty characters");
    memset(bytes, 'a', sizeof bytes - 1);
    object = new Base;
    auto const release = ordered ? std::memory_order_release : std::memory_order_relaxed;
    auto const acquire = ordered ? std::memory_order_acquire : std::memory_order_relaxed;
    for (Way const &way : ways)
        if (name == way.name) run(way, release, acquire);
    for (Way const &way : harmless)
        if (name == way.name) run(way, release, acquire);
    return 0;
}
