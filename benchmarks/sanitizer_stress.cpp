// A program that does nothing but atomic operations, for measuring what watching them costs.
//
//   sanitizer_stress SHAPE THREADS LOCATIONS OPERATIONS [TURN]
//
// OPERATIONS is the number of accesses to locations in all threads together; locks and fences come on top. A
// thread gives the processor away after TURN of them (under locks: of its entries), or never.
// Prints the largest resident size of the process, in kB.
//   locks     groups of locations, each group under a spin lock; accesses are relaxed (robust)
//   fences    any location, release and acquire, each after an SC fence (robust)
//   free      the same without fences (not robust: nearly every access is a finding that is counted)
//   seq_cst   any location, seq_cst, without fences (robust)
//   messages  one thread writes a payload and a flag, the others read them (robust)
#include <sched.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using Location = std::atomic<long>;

struct Chance {
    unsigned long state;
    unsigned long below(unsigned long bound) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return (state >> 11) % bound;
    }
};

struct Turns {
    unsigned long length;  // 0: for ever
    unsigned long made = 0;
    void pass_on_if_over() {
        if (length != 0 && ++made % length == 0) sched_yield();
    }
};

class Memory {
  public:
    explicit Memory(unsigned long count) : count_(count), locations_(new Location[count]()) {}
    unsigned long count() const { return count_; }
    Location& operator[](unsigned long i) { return locations_[i]; }

  private:
    unsigned long count_;
    std::unique_ptr<Location[]> locations_;
};

// Of ten accesses six are loads, two are stores, one adds and one compares and exchanges.
void access(Location& x, unsigned long kind, std::memory_order load, std::memory_order store,
            std::memory_order rmw) {
    if (kind < 6) {
        x.load(load);
    } else if (kind < 8) {
        x.store(static_cast<long>(kind), store);
    } else if (kind < 9) {
        x.fetch_add(1, rmw);
    } else {
        long expected = 7;
        x.compare_exchange_strong(expected, 6, rmw, load);
    }
}

void sequentially_consistent(Memory& memory, Chance chance, Turns turns, unsigned long operations) {
    for (unsigned long i = 0; i < operations; i++) {
        turns.pass_on_if_over();
        Location& x = memory[chance.below(memory.count())];
        access(x, chance.below(10), std::memory_order_seq_cst, std::memory_order_seq_cst,
               std::memory_order_seq_cst);
    }
}

void release_acquire(Memory& memory, Chance chance, Turns turns, unsigned long operations, bool fences) {
    for (unsigned long i = 0; i < operations; i++) {
        turns.pass_on_if_over();
        Location& x = memory[chance.below(memory.count())];
        if (fences) std::atomic_thread_fence(std::memory_order_seq_cst);
        access(x, chance.below(10), std::memory_order_acquire, std::memory_order_release,
               std::memory_order_acq_rel);
    }
}

constexpr unsigned long group_size = 10, accesses_per_entry = 10;

void under_locks(Memory& memory, Chance chance, Turns turns, unsigned long operations) {
    unsigned long const groups = memory.count() / group_size;
    for (unsigned long i = 0; i < operations; i += accesses_per_entry) {
        unsigned long const first = chance.below(groups) * group_size;
        Location& lock = memory[first];
        while (lock.exchange(1, std::memory_order_acquire) != 0)
            while (lock.load(std::memory_order_relaxed) != 0) sched_yield();
        for (unsigned long k = 0; k < accesses_per_entry; k++)
            access(memory[first + 1 + chance.below(group_size - 1)], chance.below(10),
                   std::memory_order_relaxed, std::memory_order_relaxed, std::memory_order_relaxed);
        lock.store(0, std::memory_order_release);
        turns.pass_on_if_over();
    }
}

void messages(Memory& memory, unsigned long number, unsigned long operations) {
    Location &payload = memory[0], &flag = memory[memory.count() - 1];
    long const writes = static_cast<long>(operations / 2);
    if (number == 0) {
        for (long i = 1; i <= writes; i++) {
            payload.store(i, std::memory_order_release);
            flag.store(i, std::memory_order_release);
        }
    } else {
        while (flag.load(std::memory_order_acquire) != writes) payload.load(std::memory_order_acquire);
    }
}

// getrusage would count what the process was before it became this program.
long largest_resident_kb() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        long kb;
        if (word == "VmHWM:" && status >> kb) return kb;
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5 && argc != 6) {
        std::fprintf(stderr,
                     "usage: %s locks|fences|free|seq_cst|messages THREADS LOCATIONS OPERATIONS [TURN]\n",
                     argv[0]);
        return 2;
    }
    char const* const shape = argv[1];
    unsigned long const threads = std::strtoul(argv[2], nullptr, 10);
    unsigned long const operations = std::strtoul(argv[4], nullptr, 10);
    Memory memory(std::strtoul(argv[3], nullptr, 10));
    Turns const turns{argc == 6 ? std::strtoul(argv[5], nullptr, 10) : 0};
    std::vector<std::thread> running;
    for (unsigned long number = 0; number < threads; number++) {
        running.emplace_back([&, number] {
            Chance const chance{number + 1};
            if (std::strcmp(shape, "locks") == 0)
                under_locks(memory, chance, turns, operations / threads);
            else if (std::strcmp(shape, "messages") == 0)
                messages(memory, number, operations);
            else if (std::strcmp(shape, "seq_cst") == 0)
                sequentially_consistent(memory, chance, turns, operations / threads);
            else
                release_acquire(memory, chance, turns, operations / threads,
                                std::strcmp(shape, "fences") == 0);
        });
    }
    for (std::thread& thread : running) thread.join();
    std::printf("%ld\n", largest_resident_kb());
}
