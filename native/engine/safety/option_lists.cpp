#include "engine/safety/option_lists.hpp"

namespace fencepost {
namespace {

std::uint32_t hash_of(OptionList list) {
    std::uint64_t h = 0x9e3779b97f4a7c15u + list.size();
    for (auto option : list) {
        h = (h ^ option.packed) * 0xd6e8feb86659fd93u;
        h ^= h >> 32;
    }
    return static_cast<std::uint32_t>(h);
}

}  // namespace

ListNumber OptionLists::number(OptionList list) {
    if (ranges_.size() * 2 >= slots_.size()) grow();
    auto const hash = hash_of(list);
    auto const mask = slots_.size() - 1;
    auto slot = hash & mask;
    for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
        auto const n = slots_[slot] - 1;
        if (ranges_[n].hash == hash && std::ranges::equal((*this)[n], list)) return n;
    }
    std::vector<Option> const copy(list.begin(), list.end());  // `list` may stand in options_
    ranges_.push_back({options_.size(), static_cast<std::uint32_t>(copy.size()), hash});
    options_.insert(options_.end(), copy.begin(), copy.end());
    slots_[slot] = static_cast<std::uint32_t>(ranges_.size());
    return slots_[slot] - 1;
}

void OptionLists::grow() {
    slots_.assign(std::max<std::size_t>(slots_.size() * 2, 1024), 0u);
    auto const mask = slots_.size() - 1;
    for (std::uint32_t n = 0; n < ranges_.size(); ++n) {
        auto slot = ranges_[n].hash & mask;
        while (slots_[slot] != 0) slot = (slot + 1) & mask;
        slots_[slot] = n + 1;
    }
}

std::size_t OptionLists::on_cell(ListNumber list, std::uint32_t cell) const {
    auto const options = (*this)[list];
    return static_cast<std::size_t>(
        std::count_if(options.begin(), options.end(), [&](Option o) { return is_on(o, cell); }));
}

std::size_t OptionLists::taken_at_most(ListNumber list, std::uint32_t cell, SourceNumber source) const {
    auto const options = (*this)[list];
    std::size_t count = 0;
    for (auto i = options.size(); i-- > 0;) {
        if (!is_on(options[i], cell)) continue;
        if (options[i].source() != source || options[i].flag() == Flag::S) break;
        ++count;
    }
    return count;
}

std::size_t OptionLists::taken_at_least(ListNumber list, std::uint32_t cell) const {
    auto const options = (*this)[list];
    std::size_t count = 0, least = 0;
    for (auto i = options.size(); i-- > 0;) {
        if (!is_on(options[i], cell)) continue;
        ++count;
        if (options[i].flag() == Flag::U) least = count;
    }
    return least;
}

ListNumber OptionLists::without(ListNumber list, std::uint32_t cell, std::size_t taken) {
    auto stays = on_cell(list, cell) - taken;
    scratch_.clear();
    for (auto option : (*this)[list]) {
        if (!is_on(option, cell)) {
            scratch_.push_back(option);
        } else if (stays > 0) {
            scratch_.push_back(option.flag() == Flag::S ? Option(option.source(), Flag::R) : option);
            --stays;
        }
    }
    return number(scratch_);
}

ListNumber OptionLists::justification(ListNumber list, std::uint32_t cell, std::size_t taken) {
    auto stays = on_cell(list, cell) - taken;
    bool begun = false;
    scratch_.clear();
    for (auto option : (*this)[list]) {
        if (is_on(option, cell)) {
            begun = begun || stays == 0;
            if (stays > 0) --stays;
        } else if (begun) {
            scratch_.push_back(option);
        }
    }
    return number(scratch_);
}

ListNumber OptionLists::preceded(Option option, ListNumber list) {
    auto const options = (*this)[list];
    scratch_.assign(1, option);
    scratch_.insert(scratch_.end(), options.begin(), options.end());
    return number(scratch_);
}

void keep_longest(Potential& potential, OptionLists const& lists) {
    std::sort(potential.begin(), potential.end());
    potential.erase(std::unique(potential.begin(), potential.end()), potential.end());
    std::erase_if(potential, [&](ListNumber list) { return lists[list].empty(); });
    for (std::size_t i = 0; i < potential.size();) {
        auto const list = potential[i];
        bool const is_within = std::any_of(potential.begin(), potential.end(), [&](ListNumber other) {
            return other != list && is_subsequence(lists[list], lists[other]);
        });
        if (is_within) {
            potential.erase(potential.begin() + static_cast<std::ptrdiff_t>(i));
        } else {
            ++i;
        }
    }
}

}  // namespace fencepost
