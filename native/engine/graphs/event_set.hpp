// Sets of events of one execution graph.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace fencepost {

using EventId = std::uint32_t;

constexpr std::size_t most_events = 256;  // of one graph

class EventSet {
  public:
    bool has(EventId e) const { return (words_[e / 64] >> (e % 64) & 1) != 0; }
    void add(EventId e) { words_[e / 64] |= bit(e); }
    void remove(EventId e) { words_[e / 64] &= ~bit(e); }

    EventSet& operator|=(EventSet const& other) {
        for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
        return *this;
    }
    EventSet& operator&=(EventSet const& other) {
        for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
        return *this;
    }
    EventSet without(EventSet const& other) const {
        EventSet left;
        for (std::size_t i = 0; i < words_.size(); ++i) left.words_[i] = words_[i] & ~other.words_[i];
        return left;
    }
    bool meets(EventSet const& other) const {
        std::uint64_t common = 0;
        for (std::size_t i = 0; i < words_.size(); ++i) common |= words_[i] & other.words_[i];
        return common != 0;
    }
    bool empty() const {
        std::uint64_t any = 0;
        for (auto word : words_) any |= word;
        return any == 0;
    }
    bool operator==(EventSet const&) const = default;

    void for_each(auto const& visit) const {
        for (std::size_t i = 0; i < words_.size(); ++i) {
            for (auto rest = words_[i]; rest != 0; rest &= rest - 1)
                visit(static_cast<EventId>(i * 64 + static_cast<std::size_t>(std::countr_zero(rest))));
        }
    }

  private:
    static std::uint64_t bit(EventId e) { return std::uint64_t{1} << (e % 64); }

    std::array<std::uint64_t, most_events / 64> words_{};
};

}  // namespace fencepost
