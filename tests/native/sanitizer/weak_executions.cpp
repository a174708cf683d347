// All weak executions of straight-line programs, as core/weak_memory.hpp makes them: every order of the
// threads' operations, and every write that a load may read in it.
//
//   weak_executions [ROOM]    reads programs, one a line; prints the graphs of each in one line
//
// A program: threads `|` operations `;` words. Orders are numbers as the compilers pass them.
//   l x ORDER    s x ORDER    u x ORDER (a read-modify-write)    f ORDER
//   c x ORDER FAILURE THREAD PLACE (a compare-exchange that expects the value of that write; -1: the first)
// A graph: for each thread, for each operation, the write that it reads (`-`: none), then `mo` with the
// writes of each location. A write is its thread and place, as in `1.0`; `i` is the initial one. Graphs stand
// between `/`. ROOM is how many SC events are told apart; all by default.
//
// links: sanitizer/core/atomic_methods.cpp sanitizer/core/await.cpp sanitizer/core/collector.cpp
// links: sanitizer/core/history.cpp sanitizer/core/knowledge.cpp sanitizer/core/locations.cpp
// links: sanitizer/core/robustness.cpp sanitizer/core/sc_clocks.cpp sanitizer/core/sc_provenance.cpp
// links: sanitizer/core/shadow.cpp sanitizer/core/stacks.cpp sanitizer/core/threads.cpp
// links: sanitizer/core/sc_order.cpp sanitizer/core/weak_memory.cpp
// links: sanitizer/system/lock.cpp sanitizer/system/memory.cpp sanitizer/system/modules.cpp
// links: sanitizer/system/options.cpp sanitizer/system/text.cpp
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "sanitizer/core/sc_order.hpp"
#include "sanitizer/core/threads.hpp"
#include "sanitizer/core/weak_memory.hpp"

using namespace fencepost;

namespace {

struct Operation {
    char kind;
    int location;
    Order order;
    Order failure = Order::relaxed;
    std::uint64_t expected = 0;
};
using Program = std::vector<std::vector<Operation>>;

// Values are names: thread and place, so that each write has its own.
std::uint64_t value_of(std::size_t thread, std::size_t place) {
    return (thread + 1) * 100 + place;
}

Program parse(std::string const& line) {
    Program program(1);
    std::istringstream words(line);
    for (std::string word; words >> word;) {
        if (word == "|") {
            program.emplace_back();
            continue;
        }
        if (word == ";") continue;
        Operation operation{word[0], 0, Order::relaxed};
        int order = 0, failure = 0, thread = 0, place = 0;
        if (operation.kind != 'f') words >> operation.location;
        words >> order;
        operation.order = order_of(order);
        if (operation.kind == 'c') {
            words >> failure >> thread >> place;
            operation.failure = order_of(failure);
            operation.expected = thread < 0 ? 0 : value_of(static_cast<std::size_t>(thread), place);
        }
        program.back().push_back(operation);
    }
    return program;
}

// The choices of a run: those that are given, then the first one each. `next` goes to the run after it.
struct Choices {
    struct Choice {
        std::uint32_t taken, of;
    };
    std::vector<Choice> made;
    std::size_t at = 0;

    std::uint32_t below(std::uint32_t n) {
        if (at == made.size()) made.push_back({0, n});
        return made[at++].taken;
    }
    bool next() {
        at = 0;
        while (!made.empty() && made.back().taken + 1 == made.back().of) made.pop_back();
        if (made.empty()) return false;
        ++made.back().taken;
        return true;
    }
};

constexpr int most_locations = 4;

class Run {
  public:
    Run(Program const& program, Choices& choices) : program_(program), choices_(choices) {
        weak::start();
        static std::vector<Thread*> all;
        while (all.size() < program.size()) all.push_back(make_thread(current_thread()));
        for (std::size_t i = 0; i < program.size(); ++i) {
            threads_.push_back(all[i]);
            weak::thread_made(current_thread(), *all[i]);
            read_.emplace_back(program[i].size(), "-");
        }
        for (std::uint64_t& value : memory_) value = 0;
        forget_range(reinterpret_cast<std::uintptr_t>(memory_), sizeof memory_);
    }

    std::string graph() {
        std::vector<std::size_t> at(program_.size());
        for (;;) {
            std::vector<std::size_t> left;
            for (std::size_t t = 0; t < program_.size(); ++t)
                if (at[t] < program_[t].size()) left.push_back(t);
            if (left.empty()) break;
            std::size_t const t = left[choices_.below(static_cast<std::uint32_t>(left.size()))];
            step(t, at[t]);
            ++at[t];
        }
        std::string text;
        for (auto const& reads : read_)
            for (std::string const& write : reads) text += write + " ";
        text += "mo";
        for (std::string const& order : orders_) text += " " + (order.empty() ? "-" : order);
        return text;
    }

  private:
    static std::string name(weak::Value value) {
        auto const number = static_cast<std::uint64_t>(value);
        return number == 0 ? "i" : std::to_string(number / 100 - 1) + "." + std::to_string(number % 100);
    }

    void step(std::size_t thread, std::size_t place) {
        Operation const& o = program_[thread][place];
        Thread& t = *threads_[thread];
        if (o.kind == 'f') return weak::fence(t, o.order);
        std::uint64_t& memory = memory_[o.location];
        auto const address = reinterpret_cast<std::uintptr_t>(&memory);
        LockedCell x(t, address, CellKind::atomic);
        weak::Location& location = *weak::locate(x, address, memory, sizeof memory);
        keep_in_step(x, memory, sizeof memory);
        if (o.kind == 'l') {
            weak::Choices choices;
            weak::find_choices(t, location, o.order, choices);
            std::uint32_t const age = choices.age[choices_.below(choices.count)];
            read_[thread][place] = name(weak::read(t, location, o.order, age).value);
            return;
        }
        if (o.kind == 'c') {
            weak::Choices choices;
            weak::find_choices_to_fail(t, location, o.failure, o.expected, choices);
            std::uint32_t const age = choices.age[choices_.below(choices.count)];
            if (age != 0 || memory != o.expected) {
                read_[thread][place] = name(weak::read(t, location, o.failure, age).value);
                return;
            }
        }
        if (o.kind != 's') read_[thread][place] = name(memory);
        memory = value_of(thread, place);
        keep_in_step(x, memory, sizeof memory);
        weak::write(t, location, o.order, {memory, o.kind != 's'}, {});
        std::string& order = orders_[o.location];
        order += (order.empty() ? "" : ",") + name(memory);
    }

    Program const& program_;
    Choices& choices_;
    std::vector<Thread*> threads_;
    std::vector<std::vector<std::string>> read_;
    std::string orders_[most_locations];
    static std::uint64_t memory_[most_locations];
};
std::uint64_t Run::memory_[most_locations];

}  // namespace

int main(int count, char** words) {
    start_threads();
    if (count > 1) weak::room_for_sc_events = static_cast<std::uint32_t>(std::atoi(words[1]));
    for (std::string line; std::getline(std::cin, line);) {
        Program const program = parse(line);
        std::set<std::string> graphs;
        Choices choices;
        do graphs.insert(Run(program, choices).graph());
        while (choices.next());
        std::string text;
        for (std::string const& graph : graphs) text += (text.empty() ? "" : " / ") + graph;
        std::puts(text.c_str());
    }
}
