// Each thread on its own: where it can stand and what it can do there, if every read may see any value that
// anyone ever writes to its cell. Safety under SRA is asked over these graphs (coverability.hpp,
// safety.hpp); the packed states of the explorer are only used to build them.
//
// A node is an access at which the thread stands, with its registers, or its end. An edge is that access as
// it happens with one value, and all local instructions up to the next one. Where these fail (an assertion, a
// division by zero, a bad index) the edge also leads to a node for all failures, from which nothing goes on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/program/bytecode.hpp"

namespace fencepost {

enum class LabelKind : std::uint8_t { silent, read, write, read_modify_write };

// R(x, v), W(x, v) or RMW(x, vR, vW) of sra-2020, Definition 2.1, or a read of what nobody writes, which is
// silent.
struct Label {
    LabelKind kind = LabelKind::silent;
    std::uint32_t cell = 0;
    Value read = 0, written = 0;

    bool reads() const { return kind == LabelKind::read || kind == LabelKind::read_modify_write; }
    bool writes() const { return kind == LabelKind::write || kind == LabelKind::read_modify_write; }
    bool operator==(Label const&) const = default;
};

struct LocalEdge {
    std::uint32_t from, to;
    std::uint32_t pc;  // the access
    Label label;
};

constexpr std::int64_t failed_pc = -2;

struct LocalNode {
    // The index of the access in the code; its size at the end, -1 where the thread runs for ever without
    // access, -2 where it has failed.
    std::int64_t pc;
    std::vector<Value> registers;
};

struct ThreadGraph {
    std::vector<LocalNode> nodes;
    std::vector<std::uint32_t> initial;
    std::vector<LocalEdge> edges;
    std::vector<std::vector<std::uint32_t>> in, out;  // per node, numbers of edges

    // In place of a node: any of them.
    std::uint32_t anywhere() const { return static_cast<std::uint32_t>(nodes.size()); }
};

struct ThreadGraphs {
    // Why they could not be built: too many nodes or values of a thread, or a local run or choice without
    // end.
    struct Unbuilt {
        enum class Why : std::uint8_t { too_many_nodes, endless_local_run, endless_choices } why;
        std::uint32_t thread, pc;
    };
    std::vector<ThreadGraph> threads;
    std::vector<Value> initial;  // per cell; the last one is that of SC fences
    bool value_limit = false;    // some value leaves the range of a program whose values do not wrap
    std::optional<Unbuilt> unbuilt;
};

// Reads of cells that nobody writes become silent. With `failing_cas_writes`, a CAS that fails writes what it
// has read: so it is an RMW like others, as it is for the store buffers of x86.
ThreadGraphs thread_graphs(Program const& program, std::size_t most_nodes, bool failing_cas_writes = false);

}  // namespace fencepost
