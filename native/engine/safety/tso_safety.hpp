// Can a bad state be reached under TSO? Over graphs of the threads in which a failing CAS writes what it has
// read (thread_graph.hpp), which changes nothing for anybody. A final memory is one with empty store buffers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/safety/coverability.hpp"

namespace fencepost {

// Answered backwards, over the dual machine of Abdulla, Atig, Bouajjani and Ngo (src/fencepost/models/
// dual_tso.py): writes are in memory at once, and each thread has a FIFO buffer of values that it will read.
//
// A state ⟨p̄, m, o⟩ says where each thread stands, what some of the cells hold, and for each thread what it
// still has to read, in this order. It stands for all states of the machine in which the threads stand there,
// the cells hold that, and each thread can do these reads from its load buffer as it is, deleting messages
// between them. Before a step these are (x and y are different cells):
//
//   R(x, v) by t     ⟨t: (x, v) · o⟩; if o begins with (x, v), o itself, as a message can be read twice
//   W(x, v) by t     m(x) is v or open; then it is open. t can only have read its own write: all its reads of
//                    x have the value v, and are dropped, the others were propagated before
//   RMW, fence       the buffer of t is empty: what it has to read it finds in m
//   propagation      the last of what a thread has to read is dropped, and m holds it. This can be put off
//                    until m changes: so a write to x also undoes, for each other thread, the propagation of
//                    some end of its list, beginning with (x, v) and agreeing with m
//   deletion         nothing: who can read from a buffer can also do it with a message more in front
//
// ⟨p̄, m, o⟩ ⊑ ⟨p̄, m', o'⟩ iff m' says what m says and each list of o is a subsequence of that of o'. By
// Higman's lemma that is a well-quasi-order, so the search ends.
class TsoCoverability {
  public:
    TsoCoverability(ThreadGraphs const& graphs, std::vector<BadStates> const& bad, Prunings const& prunings);
    ~TsoCoverability();

    Outcome run(Limits const& limits, Watcher const& watcher);

    BackwardStats stats() const;
    std::vector<RunStep> path() const;  // of the dual machine: a write is where it reaches memory
    std::vector<std::uint32_t> start_nodes() const;
    std::vector<BasisState> basis() const;  // potentials: what threads have to read, then memory, then none

  private:
    class Search;
    std::unique_ptr<Search> search_;
};

// Answered forwards, breadth first, with at most `most_writes` in a store buffer. A search that has ended
// without having met the bound has shown that no bad state can be reached.
//
// A write only enters the buffer of its thread, so it commutes with whatever other threads do and with
// updates. Where a thread is about to write, and bad states do not ask whether it stands there, it writes
// before anything else happens.
class TsoForwardSearch {
  public:
    // Throws std::invalid_argument if the bound is 0 or more than 64.
    TsoForwardSearch(ThreadGraphs const& graphs, std::vector<BadStates> const& bad,
                     std::uint32_t most_writes);
    ~TsoForwardSearch();

    Outcome run(Limits const& limits, Watcher const& watcher);

    ForwardStats stats() const;
    std::vector<RunStep> path() const;  // as threads do their steps
    std::vector<std::uint32_t> start_nodes() const;
    // The threads whose writes and RMWs reach memory, in this order.
    std::vector<std::uint32_t> updates() const;

  private:
    class Search;
    std::unique_ptr<Search> search_;
};

}  // namespace fencepost
