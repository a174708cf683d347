// What a read option can stand for. An option ⟨w, x, v, flag⟩ of a potential (sra-2020, Definition 5.6) means
// a write of v to x by w that has happened. Three least fixpoints over the graph of w tell which options, and
// which two of them one after the other, are possible while w stands at a node s:
//
//   written(s)   the writes that w can have done on some way to s;
//   last(s)      the last one to each cell on some way to s, or none, written ⊥x;
//   after(s)     pairs (a, b): on some way to s, w wrote a, and b is a write of w that was not overwritten by
//                w when it wrote a, or that came later. Only then can a thread that has read a still read b
//                (read-coherence). With b = ⊥y: w had not written y when it wrote a, so that the initial
//                value of y can still be read.
//
// A thread that may stand anywhere stands at `ThreadGraph::anywhere`: whatever holds at some node holds
// there. The initial memory is a writer of its own, `initial_writer` (design.md, section 6).
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "engine/safety/thread_graph.hpp"
#include "engine/state/layout.hpp"

namespace fencepost {

using SourceNumber = std::uint32_t;

struct Source {
    std::uint32_t writer, cell;
    Value value;
};

// A set of small numbers.
class NumberSet {
  public:
    explicit NumberSet(std::size_t size = 0) : words_((size + 63) / 64, 0) {}
    bool has(std::size_t n) const { return (words_[n / 64] >> (n % 64) & 1) != 0; }
    void add(std::size_t n) { words_[n / 64] |= Word{1} << (n % 64); }
    void remove(std::size_t n) { words_[n / 64] &= ~(Word{1} << (n % 64)); }
    // Adds all of `other`; whether that changed anything.
    bool unite(NumberSet const& other) {
        Word added = 0;
        for (std::size_t i = 0; i < words_.size(); ++i) {
            added |= other.words_[i] & ~words_[i];
            words_[i] |= other.words_[i];
        }
        return added != 0;
    }
    std::size_t words() const { return words_.size(); }

  private:
    std::vector<Word> words_;
};

class Sources {
  public:
    explicit Sources(ThreadGraphs const& graphs);

    std::uint32_t initial_writer() const { return static_cast<std::uint32_t>(graphs_.threads.size()); }
    std::size_t size() const { return all_.size(); }
    Source const& operator[](SourceNumber s) const { return all_[s]; }
    // The sources of value v in cell x, by any writer, the initial memory included.
    std::vector<SourceNumber> const& of(std::uint32_t cell, Value v) const;
    // The one by this thread, which has such an edge.
    SourceNumber by(std::uint32_t writer, std::uint32_t cell, Value v) const {
        return numbers_.at({writer, {cell, v}});
    }
    SourceNumber initial(std::uint32_t cell) const { return cell; }

    // Whether the thread can have done that write of its own before it stands at `node`.
    bool written(std::uint32_t thread, std::uint32_t node, SourceNumber own) const {
        return facts_[thread][node].written.has(index_[own]);
    }
    // Whether it can be its last one to that cell.
    bool last(std::uint32_t thread, std::uint32_t node, SourceNumber own) const {
        return facts_[thread][node].last.has(index_[own]);
    }
    bool never_wrote(std::uint32_t thread, std::uint32_t node, std::uint32_t cell) const {
        return facts_[thread][node].last.has(counts_[thread] + cell);
    }
    // Whether a thread that has read `a` can still read `b`.
    bool after(std::uint32_t thread, std::uint32_t node, SourceNumber a, SourceNumber b) const {
        return !paired_[thread] || facts_[thread][node].after[index_[a]].has(index_[b]);
    }
    // Whether a thread that has read `a` can still read the initial value of the cell.
    bool initial_after(std::uint32_t thread, std::uint32_t node, SourceNumber a, std::uint32_t cell) const {
        return !paired_[thread] || facts_[thread][node].after[index_[a]].has(counts_[thread] + cell);
    }

  private:
    struct Facts {
        NumberSet written, last;
        std::vector<NumberSet> after;  // per write of the thread
    };

    void number_sources();
    void find_facts(std::uint32_t thread);
    bool flow(std::uint32_t thread, LocalEdge const& edge);
    static bool unite(Facts& facts, Facts const& more);  // whether that changed anything

    ThreadGraphs const& graphs_;
    std::vector<Source> all_;
    std::map<std::pair<std::uint32_t, std::pair<std::uint32_t, Value>>, SourceNumber> numbers_;
    std::map<std::pair<std::uint32_t, Value>, std::vector<SourceNumber>> by_value_;
    std::vector<std::uint32_t> index_;  // per source: its number among those of its writer
    std::vector<std::size_t> counts_;   // per thread: its number of sources
    std::vector<std::vector<std::vector<std::uint32_t>>> of_cell_;  // per thread and cell: those, numbered so
    std::vector<std::vector<Facts>> facts_;                         // per thread and node
    std::vector<bool> paired_;  // per thread: whether `after` was computed
    std::vector<SourceNumber> none_;
};

}  // namespace fencepost
