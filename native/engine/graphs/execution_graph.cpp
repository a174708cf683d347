#include "engine/graphs/execution_graph.hpp"

namespace fencepost {

EventId ExecutionGraph::add(GraphEvent event) {
    EventId e = static_cast<EventId>(events_.size());
    if (free_.empty()) {
        events_.emplace_back();
    } else {
        e = free_.back();
        free_.pop_back();
    }
    event.stamp = next_stamp_++;
    set(e, event);
    return e;
}

void ExecutionGraph::put_back(EventId e, GraphEvent event) {
    std::erase(free_, e);
    set(e, event);
}

void ExecutionGraph::set(EventId e, GraphEvent event) {
    event.previous = last_[event.thread];
    event.readers = {};
    event.older = event.newer = nothing;
    learn(event, e);
    if (event.reads()) readers_of(event).add(e);
    last_[event.thread] = e;
    all_.add(e);
    ++size_;
    events_[e] = event;
}

void ExecutionGraph::remove(EventId e) {
    auto const& event = events_[e];
    if (event.reads()) readers_of(event).remove(e);
    last_[event.thread] = event.previous;
    all_.remove(e);
    --size_;
    free_.push_back(e);
}

void ExecutionGraph::insert(EventId write, EventId older) {
    auto& event = events_[write];
    auto& cell = cells_[event.cell];
    event.older = older;
    event.newer = newer(event.cell, older);
    (older == initial ? cell.oldest : events_[older].newer) = write;
    (event.newer == nothing ? cell.newest : events_[event.newer].older) = write;
}

void ExecutionGraph::take_out(EventId write) {
    auto& event = events_[write];
    auto& cell = cells_[event.cell];
    (event.older == initial ? cell.oldest : events_[event.older].newer) = event.newer;
    (event.newer == nothing ? cell.newest : events_[event.newer].older) =
        event.newer == nothing && event.older == initial ? nothing : event.older;
    event.older = event.newer = nothing;
}

void ExecutionGraph::remove_all(EventSet const& gone) {
    gone.for_each([&](EventId e) {
        auto const& event = events_[e];
        if (event.writes() && event.older != nothing) take_out(e);
        if (event.reads()) readers_of(event).remove(e);
        all_.remove(e);
        --size_;
        free_.push_back(e);
    });
    for (auto& last : last_) {
        while (last != nothing && gone.has(last)) last = events_[last].previous;
    }
}

// The rules of models/rules.py.
void ExecutionGraph::learn(GraphEvent& event, EventId e) const {
    event.porf = event.current = event.acquire = event.release = event.message = {};
    if (event.previous != nothing) {
        auto const& before = events_[event.previous];
        event.porf = before.porf;
        event.current = before.current;
        event.acquire = before.acquire;
        event.release = before.release;
    }
    event.porf.add(e);
    event.current.add(e);
    event.acquire.add(e);
    if (event.fences && event.acquires) event.current = event.acquire;
    if (event.reads() && event.source != initial) {
        auto const& source = events_[event.source];
        event.porf |= source.porf;
        if (event.atomic) {
            event.acquire |= source.message;
            if (event.acquires) event.current |= source.message;
        }
    }
    if (event.writes() && event.atomic) {
        event.message = event.releases ? event.current : event.release;
        if (event.rmw) {
            auto const replaced = events_[event.previous].source;
            if (replaced != initial) event.message |= events_[replaced].message;
        }
    }
    if (event.fences && event.releases) event.release = event.current;
}

}  // namespace fencepost
