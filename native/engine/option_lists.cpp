#include "engine/option_lists.hpp"

namespace holdfast {
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

ListNumber ListPool::number(OptionList list) {
    if (places_.size() * 2 >= slots_.size()) grow();
    auto const hash = hash_of(list);
    auto const mask = slots_.size() - 1;
    auto slot = hash & mask;
    for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
        auto const n = slots_[slot] - 1;
        if (places_[n].hash == hash && std::ranges::equal((*this)[n], list)) return n;
    }
    std::vector<Option> const copy(list.begin(), list.end());  // `list` may stand in options_
    places_.push_back({options_.size(), static_cast<std::uint32_t>(copy.size()), hash});
    options_.insert(options_.end(), copy.begin(), copy.end());
    slots_[slot] = static_cast<std::uint32_t>(places_.size());
    return slots_[slot] - 1;
}

void ListPool::grow() {
    slots_.assign(std::max<std::size_t>(slots_.size() * 2, 1024), 0u);
    auto const mask = slots_.size() - 1;
    for (std::uint32_t n = 0; n < places_.size(); ++n) {
        auto slot = places_[n].hash & mask;
        while (slots_[slot] != 0) slot = (slot + 1) & mask;
        slots_[slot] = n + 1;
    }
}

}  // namespace holdfast
