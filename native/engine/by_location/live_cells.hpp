// Which cells can still be read before they are written again?
//
// What a write leaves for those who read it, W[x] and WSC[x], does not matter at a node from which x is not
// read before the next write to it, since that replaces both; an RMW reads. So these bits may be set there,
// and monitors that differ in them become one. A greatest set of bits is as good as any other, as they decide
// nothing. That is liveness, as of registers, over the graph. Only for RA: there a write replaces W[x] by
// what its thread knows.
#pragma once

#include <unordered_map>
#include <vector>

#include "engine/by_location/topic_graph.hpp"
#include "engine/monitors/topics.hpp"

namespace fencepost {

class LiveCells {
  public:
    static constexpr std::size_t most_cells = 64;

    LiveCells(TopicGraph const& graph, TopicRules const& rules, MemoryBudget& memory)
        : graph_(graph), rows_(memory.take(graph.size() * sizeof(Word))) {
        auto const& program = graph.machine().program();
        auto const renamings = program.renamings();
        for (LabelNumber n = 0; n < graph.labels().size(); ++n)
            add_label(graph.labels().events(n), renamings);
        std::fill_n(rows_.as<Word>(), graph.size(), Word{0});
        while (go_over()) {
        }
        add_masks(rules);
    }

    // The bits that do not matter at a node.
    Word const* mask(StateNumber n) const { return masks_[rows_.as<Word>()[n]].data(); }

  private:
    struct OfLabel {
        Word read = 0, written = 0;
        std::vector<std::uint32_t> renamed;  // cells, if there are renamings
    };

    void add_label(std::vector<MonitorEvent> const& events, std::vector<Renaming> const& renamings) {
        auto& label = labels_.emplace_back();
        for (auto const& event : events) {
            auto const bit = event.kind == MonitorEvent::Kind::exchange ? 0 : Word{1} << event.cell;
            switch (event.kind) {
                case MonitorEvent::Kind::write:
                    if ((label.read & bit) == 0) label.written |= bit;
                    break;
                case MonitorEvent::Kind::exchange:
                    rename(label.renamed, renamings[event.thread]);
                    break;
                case MonitorEvent::Kind::fence:
                case MonitorEvent::Kind::non_atomic_read:
                case MonitorEvent::Kind::non_atomic_write:
                    break;
                default:
                    if ((label.written & bit) == 0) label.read |= bit;
            }
        }
    }
    void rename(std::vector<std::uint32_t>& renamed, Renaming const& renaming) const {
        auto const cells = graph_.machine().program().cells.size();
        for (auto x = static_cast<std::uint32_t>(renamed.size()); x < cells; ++x) renamed.push_back(x);
        for (auto& x : renamed) x = renaming.cell(x);
    }

    bool go_over() {
        bool changed = false;
        auto* const rows = rows_.as<Word>();
        for (auto n = static_cast<StateNumber>(graph_.size()); n-- > 0;) {
            Word live = rows[n];
            for (auto e = graph_.first_edge(n); e < graph_.first_edge(n + 1); ++e) {
                auto const edge = graph_.edge(e);
                auto const& label = labels_[edge.label];
                Word after = rows[edge.target];
                if (!label.renamed.empty()) {
                    Word before = 0;
                    for (std::size_t x = 0; x < label.renamed.size(); ++x)
                        before |= (after >> label.renamed[x] & 1) << x;
                    after = before;
                }
                live |= (after & ~label.written) | label.read;
            }
            changed = changed || live != rows[n];
            rows[n] = live;
        }
        return changed;
    }

    // Rows become numbers of masks.
    void add_masks(TopicRules const& rules) {
        std::unordered_map<Word, std::size_t> numbers;
        auto const cells = graph_.machine().program().cells.size();
        for (std::size_t n = 0; n < graph_.size(); ++n) {
            auto& row = rows_.as<Word>()[n];
            auto const [at, is_new] = numbers.try_emplace(row, masks_.size());
            if (is_new) {
                auto& mask = masks_.emplace_back(rules.words());
                for (std::uint32_t x = 0; x < cells; ++x) {
                    if ((row >> x & 1) != 0) continue;
                    for (auto bit : rules.bits_for_readers(x)) mask[bit / 64] |= Word{1} << bit % 64;
                }
            }
            row = at->second;
        }
    }

    TopicGraph const& graph_;
    Pages rows_;
    std::vector<OfLabel> labels_;
    std::vector<std::vector<Word>> masks_;
};

}  // namespace fencepost
