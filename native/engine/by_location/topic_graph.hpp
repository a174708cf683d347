// The graph along which topics are searched: all states of a program, or one for all with the same future.
//
// Two states have the same future if their threads stand at the same accesses, the same exchanges of threads
// leave them as they are, and each step of one has a step of the other with the same label, to a state with
// the same future (a bisimulation). So monitors take the same values along the runs from both, and violate
// the same. This is more than equal program states: it merges values that nobody reads any more, indices
// that only count, and choices that come to the same.
#pragma once

#include <optional>
#include <vector>

#include "engine/by_location/program_graph.hpp"

namespace fencepost {

// A node in this graph is numbered by its place in it, and has a row of words as those of the program's
// graph.
class TopicGraph {
  public:
    // With all states.
    explicit TopicGraph(ProgramGraph const& program)
        : program_(program), nodes_(&program.node_rows()), edges_(&program.edge_rows()) {}
    // With these nodes and edges.
    TopicGraph(ProgramGraph const& program, Arena const& nodes, EdgeArena const& edges)
        : program_(program), nodes_(&nodes), edges_(&edges) {}

    std::size_t size() const { return nodes_->size(); }
    std::size_t edges() const { return edges_->size(); }
    std::size_t first_edge(StateNumber n) const { return n < size() ? (*nodes_)[n][0] : edges(); }
    GraphEdge edge(std::size_t number) const { return (*edges_)[number]->unpacked(); }
    void prefetch_node(StateNumber n) const { __builtin_prefetch((*nodes_)[n]); }
    void prefetch_edges(StateNumber n) const {
        if (auto const first = (*nodes_)[n][0]; first < edges()) __builtin_prefetch((*edges_)[first]);
    }
    StandNumber stand(StateNumber n, std::uint32_t t) const {
        return ProgramGraph::stand_in((*nodes_)[n], t);
    }
    Word keeping(StateNumber n) const { return program_.keeping_in((*nodes_)[n]); }

    Stands const& stands() const { return program_.stands(); }
    Labels const& labels() const { return program_.labels(); }
    Machine<LabelMonitor> const& machine() const { return program_.machine(); }
    // The state with this number in the program's graph.
    void load(StateNumber n, Word* state) const { program_.load(n, state); }

  private:
    ProgramGraph const& program_;
    Arena const* nodes_;
    EdgeArena const* edges_;
};

// Which nodes have the same future? At first all are in one class. Then classes are split, until the nodes of
// each have edges with the same labels to the same classes. The answer is checked edge by edge, so nothing
// depends on hashes being different.
class EqualFutures {
  public:
    EqualFutures(ProgramGraph const& program, Team& team, MemoryBudget& memory);

    // Splits some classes; false when there are no more to split, or too many to be worth it.
    bool split();
    // Makes a graph with a node for each class; false if it would be little smaller. After all is split.
    bool merge(Arena& nodes, EdgeArena& edges);

  private:
    using Class = std::uint32_t;
    // A node whose edges lead to other classes than before.
    struct Changed {
        std::uint64_t edges;  // hash of them
        StateNumber node;
        std::uint32_t part;
    };
    // The changed nodes of a class that have the same edges.
    struct Part {
        std::uint64_t edges;
        Class of, size, becomes;
    };
    // The changed nodes whose part has a hash in some range: where they begin in `by_shard_`, and how many
    // parts they have. The parts begin at the same place, and their table at twice the place.
    struct Shard {
        std::size_t first = 0;
        std::uint32_t parts = 0;
    };

    static constexpr std::size_t most_classes_of_ten = 8;  // per ten nodes

    bool is_worth_it() const { return classes_ * 10 <= nodes_ * most_classes_of_ten; }
    void find_steps_to();
    void find_changed();
    // Gives the changed nodes new classes, and notes those whose class is another one now.
    void split_classes();
    void sort_by_shard();
    void find_parts(std::size_t shard);
    void choose_classes();
    void move_to_classes();
    std::uint32_t part_with(std::uint64_t spread_hash, std::uint64_t edges, Class of, std::size_t shard);
    std::uint64_t hash_of_edges(StateNumber n) const;
    // The classes to which the edges of a node lead, with their labels, each once.
    void list_edges(StateNumber n, std::vector<GraphEdge>& edges) const;
    bool is_like(StateNumber n, Arena const& nodes, EdgeArena const& edges) const;
    // Calls `task` with the first and the last of some numbers below `count`, and how many such rows came
    // before; shared by the team.
    template <class Task>
    void in_rows(std::size_t count, Task task) const;

    ProgramGraph const& program_;
    Team& team_;
    TopicGraph all_;
    std::size_t nodes_, row_words_;
    std::size_t classes_ = 1;
    Pages class_of_;               // per node
    Pages members_;                // per class, how many
    Pages largest_;                // per class, its largest part from 1 on, or 0
    Pages before_, first_before_;  // for each node those with an edge to it, and where they begin
    Pages changed_, is_changed_;   // nodes; and per node whether it is among them
    Pages parts_, part_table_;     // and where they are, by hash
    Pages moved_;                  // nodes
    Pages by_shard_;               // numbers of changed nodes
    std::size_t changed_count_ = 0, moved_count_ = 0;
    std::vector<Shard> shards_;                              // and one more
    std::vector<std::vector<std::uint32_t>> rows_by_shard_;  // for each row of changed nodes
};

}  // namespace fencepost
