// Which states of the backward search can occur in a run. A state is possible if, by simple facts about each
// thread (sources.hpp), some reachable execution graph could match it (sra-2020, Definition 5.13). Others are
// left out, which changes no answer.
#pragma once

#include <map>

#include "engine/safety/joint_nodes.hpp"
#include "engine/safety/option_lists.hpp"

namespace fencepost {

// What keeps the search small.
struct Prunings {
    bool sources = true;      // options that nobody can have written yet (sources.hpp: written, last)
    bool pairs = true;        // lists that read-coherence forbids (sources.hpp: after)
    bool joint = true;        // nodes that the threads cannot reach together
    bool subsumption = true;  // states above another; without it only equal states are merged
};

class Possible {
  public:
    Possible(ThreadGraphs const& graphs, Sources const& sources, OptionLists const& lists,
             Prunings const& prunings);

    // Whether the threads can stand at these nodes together between two blocks.
    bool can_be_together(Nodes nodes);
    // Whether there can be the write that an option of `holder` stands for.
    bool has_source(Option option, std::uint32_t holder, Nodes nodes) const;
    bool operator()(PotentialState const& state);
    // Whether, in a list, b can follow a (Definition 5.12).
    bool can_follow(Option a, Option b, Nodes nodes) const;

  private:
    bool is_the_last(Option option);

    ThreadGraphs const& graphs_;
    Sources const& sources_;
    OptionLists const& lists_;
    Prunings prunings_;
    std::map<std::uint64_t, JointNodes> joint_;  // by the threads that stand anywhere; empty if not used
    std::vector<SourceNumber> lasts_;  // of the state that is looked at: what options with U ask for
};

// The threads that stand anywhere, as bits; and the tuple with these threads anywhere.
std::uint64_t anywhere_mask(ThreadGraphs const& graphs, Nodes nodes);
std::vector<std::uint32_t> widened(ThreadGraphs const& graphs, Nodes nodes, std::uint64_t mask);

}  // namespace fencepost
