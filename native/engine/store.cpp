#include "engine/store.hpp"

#include <sys/mman.h>

#include <bit>

namespace holdfast {

namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;
constexpr std::uint64_t first_slots = std::uint64_t{1} << 12;
constexpr std::uint64_t most_slots = std::uint64_t{1} << 32;
constexpr std::size_t huge_page = std::size_t{2} << 20;

// How many bits a monitor has, and the number of its state or key.
Word member_head(std::uint32_t bits, std::uint32_t n) {
    return static_cast<Word>(bits) << 32 | n;
}
std::uint32_t bits_of(Word head) {
    return static_cast<std::uint32_t>(head >> 32);
}

bool included(Word const* a, Word const* b, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        if ((a[i] & ~b[i]) != 0) return false;
    }
    return true;
}

}  // namespace

Pages::Pages(std::size_t bytes) : bytes_(bytes) {
    data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data_ == MAP_FAILED) {
        data_ = nullptr;
        throw OutOfMemory("the system has no more memory");
    }
    if (bytes >= huge_page) madvise(data_, bytes, MADV_HUGEPAGE);
}

Pages::~Pages() {
    if (data_ != nullptr) munmap(data_, bytes_);
}

Pages MemoryBudget::take(std::size_t bytes) {
    if (used_ + bytes > most_) throw OutOfMemory("the memory limit is reached");
    Pages pages(bytes);
    used_ += bytes;
    peak_ = std::max(peak_, used_);
    return pages;
}

Arena::Arena(MemoryBudget& budget, std::size_t words_per_record) : budget_(budget), words_(words_per_record) {
    std::size_t const records =
        std::bit_floor(std::max<std::size_t>(block_bytes / (words_ * sizeof(Word)), 16));
    shift_ = static_cast<unsigned>(std::countr_zero(records));
    mask_ = records - 1;
}

Word* Arena::append() {
    if (size_ >> shift_ == blocks_.size())
        blocks_.push_back(budget_.take((mask_ + 1) * words_ * sizeof(Word)));
    return (*this)[size_++];
}

HashTable::HashTable(MemoryBudget& budget) : budget_(budget), count_(first_slots) {
    pages_ = budget_.take(count_ * sizeof(std::uint64_t));
}

// Old slots are met in the order of their places, which is the order of their new places too, except for
// those that wrapped around; so both tables are walked from front to back.
void HashTable::grow() {
    if (count_ == most_slots) throw OutOfMemory("more states than the store can number");
    Pages larger = budget_.take(count_ * 2 * sizeof(std::uint64_t));
    std::swap(pages_, larger);
    auto const* const old = larger.as<std::uint64_t>();
    std::uint64_t const old_count = count_;
    count_ *= 2;
    for (std::uint64_t i = 0; i < old_count; ++i) {
        if (old[i] == 0) continue;
        std::size_t at = place(static_cast<std::uint32_t>(old[i] >> 32));
        while (slots()[at] != 0) at = after(at);
        slots()[at] = old[i];
    }
    budget_.release(std::move(larger));
}

ExactStore::ExactStore(std::size_t words, std::size_t, std::size_t most_bytes)
    : memory_(most_bytes), words_(words), states_(memory_, words + 1), table_(memory_) {}

StateNumber ExactStore::put(Word const* state, std::uint64_t hash, Origin origin) {
    table_.reserve_one();
    auto const same = [&](StateNumber n) { return same_words(states_[n], state, words_); };
    if (auto const known = table_.find(hash, same); known != no_state) return known;
    auto const number = static_cast<StateNumber>(size());
    Word* const added = states_.append();
    std::memcpy(added, state, words_ * sizeof(Word));
    added[words_] = as_word(origin);
    table_.add(hash, number);
    return number;
}

Origin ExactStore::origin(StateNumber n) const {
    return as_origin(states_[n][words_]);
}

AntichainStore::AntichainStore(std::size_t words, std::size_t key_words, std::size_t most_bytes)
    : memory_(most_bytes),
      key_words_(key_words),
      monitor_words_(words - key_words),
      stride_(monitor_words_ + 1),
      keys_(memory_, key_words + 2),
      records_(memory_, 2),
      table_(memory_) {}

AntichainStore::Members AntichainStore::members_of(Word const* key) const {
    Word const sizes = key[key_words_ + 1];
    return {std::bit_cast<Word*>(key[key_words_]), static_cast<std::uint32_t>(sizes),
            static_cast<std::uint32_t>(sizes >> 32)};
}

void AntichainStore::set_members(Word* key, Members const& members) const {
    key[key_words_] = std::bit_cast<Word>(members.first);
    key[key_words_ + 1] = static_cast<Word>(members.capacity) << 32 | members.count;
}

// Members with as many bits stand together, so that few are looked at.
Word const* AntichainStore::find(StateNumber n) const {
    auto const members = members_of(keys_[key_of(n)]);
    auto const bits = bits_of(records_[n][1]);
    std::uint32_t first = 0;
    for (std::uint32_t last = members.count; first < last;) {
        auto const middle = (first + last) / 2;
        if (bits_of(members.first[middle * stride_]) > bits) {
            first = middle + 1;
        } else {
            last = middle;
        }
    }
    for (; first < members.count; ++first) {
        Word const* const member = members.first + first * stride_;
        if (bits_of(*member) != bits) return nullptr;
        if (static_cast<StateNumber>(*member) == n) return member;
    }
    return nullptr;
}

Word* AntichainStore::allocate(std::uint32_t capacity) {
    auto const size_class = static_cast<std::size_t>(std::countr_zero(capacity));
    if (size_class < unused_.size() && !unused_[size_class].empty()) {
        Word* const again = unused_[size_class].back();
        unused_[size_class].pop_back();
        return again;
    }
    std::size_t const bytes = capacity * stride_ * sizeof(Word);
    if (pools_.empty() || pool_used_ + bytes > pools_.back().bytes()) {
        pools_.push_back(memory_.take(std::max(bytes, block_bytes)));
        pool_used_ = 0;
    }
    Word* const fresh = pools_.back().as<Word>() + pool_used_ / sizeof(Word);
    pool_used_ += bytes;
    return fresh;
}

void AntichainStore::grow(Members& members) {
    auto const capacity = std::max<std::uint32_t>(members.capacity * 2, 1);
    Word* const larger = allocate(capacity);
    if (members.capacity > 0) {
        std::memcpy(larger, members.first, members.count * stride_ * sizeof(Word));
        auto const size_class = static_cast<std::size_t>(std::countr_zero(members.capacity));
        if (unused_.size() <= size_class) unused_.resize(size_class + 1);
        unused_[size_class].push_back(members.first);
    }
    members.first = larger;
    members.capacity = capacity;
}

bool AntichainStore::insert(Word const* state, std::uint64_t hash, Origin origin) {
    table_.reserve_one();
    auto const same = [&](std::uint32_t key) { return same_words(keys_[key], state, key_words_); };
    auto key = table_.find(hash, same);
    if (key == no_state) {
        key = static_cast<std::uint32_t>(keys_.size());
        std::memcpy(keys_.append(), state, key_words_ * sizeof(Word));
        table_.add(hash, key);
    }
    auto members = members_of(keys_[key]);
    Word const* const monitor = state + key_words_;
    auto const bits = count_bits(monitor, monitor_words_);
    // Only larger members can include the new one, and only smaller ones be included in it.
    std::uint32_t at = 0;
    for (; at < members.count && bits_of(members.first[at * stride_]) >= bits; ++at) {
        if (included(monitor, members.first + at * stride_ + 1, monitor_words_)) return false;
    }
    std::uint32_t kept = at;
    for (std::uint32_t i = at; i < members.count; ++i) {
        Word* const member = members.first + i * stride_;
        if (included(member + 1, monitor, monitor_words_)) continue;
        if (kept != i) std::memcpy(members.first + kept * stride_, member, stride_ * sizeof(Word));
        ++kept;
    }
    members.count = kept;
    if (members.count == members.capacity) grow(members);
    Word* const place = members.first + at * stride_;
    std::memmove(place + stride_, place, (members.count - at) * stride_ * sizeof(Word));
    place[0] = member_head(bits, static_cast<StateNumber>(size()));
    std::memcpy(place + 1, monitor, monitor_words_ * sizeof(Word));
    ++members.count;
    set_members(keys_[key], members);
    Word* const record = records_.append();
    record[0] = as_word(origin);
    record[1] = member_head(bits, key);
    return true;
}

bool AntichainStore::load(StateNumber n, Word* state) const {
    Word const* const member = find(n);
    if (member == nullptr) return false;
    std::memcpy(state, keys_[key_of(n)], key_words_ * sizeof(Word));
    std::memcpy(state + key_words_, member + 1, monitor_words_ * sizeof(Word));
    return true;
}

Origin AntichainStore::origin(StateNumber n) const {
    return as_origin(records_[n][0]);
}

}  // namespace holdfast
