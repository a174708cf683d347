// The events of a program's accesses and fences, as a memory model has them.
//
//     model       accesses                          SC fence                          other fences
//     sc          order nothing by themselves       nothing                           nothing
//     tso         RMWs and seq_cst stores drain     drains                            nothing
//     ra, sra     atomic ones acquire and release   RMW of a cell of its own          nothing
//     rc20        by their modes                    fence and RMW of its own cell     by their modes
//     cpp20       by their modes                    acquire-release fence, in S       by their modes
#pragma once

#include "engine/graphs/consistency.hpp"
#include "engine/graphs/execution_graph.hpp"

namespace fencepost {

class EventMaker {
  public:
    EventMaker(ThreadSteps& steps, GraphModel model) : steps_(steps), model_(model) {}

    // Whether the access is a fence that reads and writes no cell.
    bool is_event_alone(Access const& access) const;

    GraphEvent choice(std::uint32_t t, ThreadSteps::Step const& step, std::uint32_t number) const;
    GraphEvent fence(std::uint32_t t, NodeId node);
    GraphEvent store(std::uint32_t t, NodeId node);
    // A load, or the read of an RMW.
    GraphEvent read(std::uint32_t t, NodeId node, EventId source, Value value);
    GraphEvent read_again(GraphEvent const& read, EventId source, Value value);
    GraphEvent write_of(GraphEvent const& read) const;

  private:
    GraphEvent made(GraphEvent::Kind kind, std::uint32_t t, NodeId node) const;
    void give_modes(GraphEvent& event, bool acquires, bool releases, bool sc) const;
    static void go_on(GraphEvent& event, ThreadSteps::Step const& step);

    ThreadSteps& steps_;
    GraphModel model_;
};

}  // namespace fencepost
