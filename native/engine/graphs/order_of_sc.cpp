#include "engine/graphs/order_of_sc.hpp"

#include <algorithm>
#include <vector>

namespace fencepost {
namespace {

// An RMW is one event of S, called by the number of its read.
class OrderOfSc {
  public:
    explicit OrderOfSc(ExecutionGraph const& graph) : graph_(graph) {
        graph.all().for_each([&](EventId e) {
            auto const& event = graph[e];
            if (!event.sc || whole(e) != e) return;
            sc_.add(e);
            events_.push_back(e);
            if (event.kind == GraphEvent::Kind::fence) fences_.push_back(e);
        });
        for (auto fence : fences_) all_fences_.add(fence);
    }

    bool exists() {
        if (events_.size() < 2) return true;
        before_.resize(most_events);
        for (auto e : events_) before_[e] = strongly_before(e);
        for (std::uint32_t x = 0; x < graph_.cells(); ++x) add_coherence(x);
        return is_acyclic();
    }

  private:
    EventId whole(EventId e) const {
        auto const& event = graph_[e];
        return event.rmw && event.writes() ? event.previous : e;
    }
    // The last part of the event.
    EventId last_part(EventId e) const {
        auto const& event = graph_[e];
        if (!event.awaits_its_write() || graph_.last(event.thread) == e) return e;
        return graph_.newer(event.cell, event.source);
    }

    void for_each_before(EventId e, auto const& visit) const {
        for (auto p = graph_[whole(e)].previous; p != nothing; p = graph_[p].previous) visit(p);
    }

    EventSet po_before(EventId e) const {
        EventSet before;
        for_each_before(e, [&](EventId p) { before.add(whole(p)); });
        return before;
    }

    EventSet strongly_before(EventId e) const {
        EventSet before = po_before(e);
        before |= synchronised_before(e);
        auto const previous = graph_[e].previous;
        if (previous != nothing)
            graph_[previous].current.for_each([&](EventId other) { before |= po_before(other); });
        before &= sc_;
        return before;
    }

    // dom(sw ; [{e}]) of an SC event, and other writes and fences; those that are SC do release.
    EventSet synchronised_before(EventId e) const {
        EventSet before;
        if (graph_[e].kind == GraphEvent::Kind::fence) {
            for_each_before(e, [&](EventId p) { add_released_to(p, before); });
        } else {
            add_released_to(e, before);
        }
        return before;
    }

    // The writes whose release sequences the event reads from, and the fences before them in po.
    void add_released_to(EventId read, EventSet& before) const {
        if (!graph_[read].reads() || !graph_[read].atomic) return;
        for (auto w = graph_[read].source; w != initial;) {
            before.add(whole(w));
            for_each_before(w, [&](EventId p) {
                if (graph_[p].kind == GraphEvent::Kind::fence) before.add(p);
            });
            if (!graph_[w].rmw) break;
            w = graph_[graph_[w].previous].source;
        }
    }

    // Each event eco-before another in the cell, and the fences that happen before it, come before that one
    // and the fences after it. In a cell eco goes by the place in mo of what is written, or else read.
    void add_coherence(std::uint32_t x) {
        EventSet earlier;  // of those met so far, all that comes before what is eco-after them
        EventId w = initial;
        do {
            if (w != initial) {
                if (!graph_[w].atomic) return;
                add_before(w, earlier);
                add_sources(w, earlier);
            }
            EventSet const sources = earlier;
            graph_.readers(x, w).for_each([&](EventId r) {
                if (last_part(r) != r) return;  // an RMW, which comes as a write
                add_before(r, sources);
                add_sources(r, earlier);
            });
            w = graph_.newer(x, w);
        } while (w != nothing);
    }

    void add_sources(EventId a, EventSet& sources) const {
        EventSet fences = graph_[a].current;
        fences &= all_fences_;
        sources |= fences;
        if (graph_[a].sc) sources.add(whole(a));
    }
    void add_before(EventId b, EventSet const& sources) {
        if (graph_[b].sc) before_[whole(b)] |= sources;
        for (auto fence : fences_) {
            if (graph_[fence].current.has(b)) before_[fence] |= sources;
        }
    }

    bool is_acyclic() {
        auto left = sc_;
        auto open = events_;
        while (!open.empty()) {
            auto const waits = [&](EventId e) { return before_[e].meets(left); };
            auto const free = std::partition(open.begin(), open.end(), waits);
            if (free == open.end()) return false;
            std::for_each(free, open.end(), [&](EventId e) { left.remove(e); });
            open.erase(free, open.end());
        }
        return true;
    }

    ExecutionGraph const& graph_;
    EventSet sc_, all_fences_;
    std::vector<EventId> events_, fences_;
    std::vector<EventSet> before_;
};

}  // namespace

bool has_s(ExecutionGraph const& graph) {
    return OrderOfSc(graph).exists();
}

}  // namespace fencepost
