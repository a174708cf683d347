#include "engine/state/store.hpp"

#include <sys/mman.h>

#include <bit>
#include <utility>

namespace fencepost {

namespace {

// Member arrays are in pools. The first one is small, the others have large pages.
constexpr std::size_t first_pool_bytes = std::size_t{1} << 18;
constexpr std::size_t pool_bytes = std::size_t{2} << 20;
constexpr std::uint64_t first_slots = std::uint64_t{1} << 12;
constexpr std::uint64_t cheap_slots = std::uint64_t{1} << 20;
constexpr std::uint64_t most_slots = std::uint64_t{1} << 32;
// Blocks are in slabs: the first one is small, for a small search would use little of a large page.
constexpr std::size_t first_slab_bytes = std::size_t{1} << 20;
constexpr std::size_t least_slab_bytes = std::size_t{4} << 20;
constexpr std::size_t most_slab_bytes = std::size_t{32} << 20;
constexpr std::uint64_t slots_moved_at_once = huge_page / sizeof(std::uint64_t);

// Capacities of member arrays: 1, 2, 3, 4, 6, 8, 12, 16, …
std::uint32_t next_capacity(std::uint32_t capacity) {
    if (capacity < 2) return capacity + 1;
    return std::has_single_bit(capacity) ? capacity / 2 * 3 : capacity / 3 * 4;
}
std::size_t class_of(std::uint32_t capacity) {
    auto const doublings = static_cast<std::size_t>(std::bit_width(capacity));
    return 2 * doublings + (std::has_single_bit(capacity) ? 0 : 1);
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

void Pages::extend(std::size_t bytes) {
#ifdef __SANITIZE_THREAD__  // ThreadSanitizer does not know that mremap leaves its old place to others
    Pages copied(bytes);
    std::memcpy(copied.data_, data_, bytes_);
    *this = std::move(copied);
#else
    void* const larger = mremap(data_, bytes_, bytes, MREMAP_MAYMOVE);
    if (larger == MAP_FAILED) throw OutOfMemory("the system has no more memory");
    data_ = larger;
    bytes_ = bytes;
    if (bytes >= huge_page) madvise(data_, bytes, MADV_HUGEPAGE);
#endif
}

void Pages::give_back(std::size_t first, std::size_t bytes) {
    madvise(as<char>() + first, bytes, MADV_DONTNEED);
}

void MemoryBudget::count(std::size_t bytes) {
    if (used_.fetch_add(bytes) + bytes <= most_) return;
    used_ -= bytes;
    throw OutOfMemory("the memory limit is reached");
}

Pages MemoryBudget::take(std::size_t bytes) {
    count(bytes);
    return Pages(bytes);
}

void* MemoryBudget::take_block(std::size_t bytes) {
    count(bytes);
    std::lock_guard const hold(mutex_);
    if (slabs_.empty() || slabs_.back().bytes() - slab_used_ < bytes) {
        auto const share = std::clamp(std::bit_floor(bytes_of_slabs_ / 2), least_slab_bytes, most_slab_bytes);
        slabs_.emplace_back(std::max(bytes, slabs_.empty() ? first_slab_bytes : share));
        bytes_of_slabs_ += slabs_.back().bytes();
        slab_used_ = 0;
    }
    return slabs_.back().as<char>() + std::exchange(slab_used_, slab_used_ + bytes);
}

void MemoryBudget::extend(Pages& pages, std::size_t bytes) {
    count(bytes - pages.bytes());
    pages.extend(bytes);
}

Pages MemoryBudget::take_instead_of(Pages const& old, std::size_t bytes) {
    count(bytes - old.bytes());
    return Pages(bytes);
}

HashTable::HashTable(MemoryBudget& budget) : budget_(budget) {
    set_count(first_slots);
    pages_ = budget_.take(count_ * sizeof(std::uint64_t));
}

// While slots take little memory, more are empty, and an entry is mostly where it belongs.
void HashTable::set_count(std::uint64_t count) {
    count_ = count;
    most_ = count <= cheap_slots ? count / 2 : count / 4 * 3;
}

void HashTable::grow() {
    if (count_ == most_slots) throw OutOfMemory("more states than the store can number");
    if (count_ * 2 * sizeof(std::uint64_t) < huge_page) {
        grow_in_place();
    } else {
        grow_elsewhere();
    }
}

// From back to front: an entry's new slot has about twice the old number, so it lies behind all entries that
// have not been moved yet. There are two exceptions, which are put in last: entries near the front that
// already stand behind their new slot, and entries that wrap around at the end.
void HashTable::grow_in_place() {
    budget_.extend(pages_, count_ * 2 * sizeof(std::uint64_t));
    std::uint64_t const old_count = count_;
    set_count(old_count * 2);
    std::vector<std::uint64_t> late;
    for (auto i = old_count; i-- > 0;) {
        auto const entry = std::exchange(slots()[i], 0);
        if (entry == 0) continue;
        auto at = home(static_cast<std::uint32_t>(entry >> 32));
        bool const behind = at > i;
        while (behind && at < count_ && slots()[at] != 0) ++at;
        if (behind && at < count_) {
            slots()[at] = entry;
        } else {
            late.push_back(entry);
        }
    }
    for (auto const entry : late) put(entry);
}

// To where all pages can be large; what was in small ones would stay there. The old pages are given back as
// they are left, so that not both tables take memory.
void HashTable::grow_elsewhere() {
    auto larger = budget_.take_instead_of(pages_, count_ * 2 * sizeof(std::uint64_t));
    std::swap(pages_, larger);
    std::uint64_t const old_count = count_;
    set_count(old_count * 2);
    for (std::uint64_t first = 0; first < old_count; first += slots_moved_at_once) {
        auto const end = std::min(first + slots_moved_at_once, old_count);
        for (auto i = first; i < end; ++i) {
            if (auto const entry = larger.as<std::uint64_t>()[i]; entry != 0) put(entry);
        }
        larger.give_back(first * sizeof(std::uint64_t), (end - first) * sizeof(std::uint64_t));
    }
}

ExactStore::ExactStore(std::size_t words, std::size_t, std::size_t most_bytes)
    : memory_(most_bytes), words_(words), states_(memory_, words + 1), table_(memory_) {}

StateNumber ExactStore::put(Word const* state, std::uint64_t hash, Origin origin) {
    table_.reserve_one();
    auto const same = [&](StateNumber n) { return same_words(states_[n], state, words_); };
    if (auto const known = table_.find(hash, same); known != no_state) return known;
    auto const number = static_cast<StateNumber>(size());
    Word* const added = states_.append();
    copy_words(added, state, words_);
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
      keys_(memory_, key_words + 2),
      records_(memory_, 1),
      table_(memory_) {}

void AntichainStore::set_members(Word* key, Members const& members) const {
    key[key_words_] = std::bit_cast<Word>(members.words);
    key[key_words_ + 1] = static_cast<Word>(members.capacity) << 32 | members.count;
}

std::size_t AntichainStore::words_for(std::uint32_t capacity) const {
    return capacity * monitor_words_ + (capacity + 1) / 2;
}

Word* AntichainStore::allocate(std::uint32_t capacity) {
    auto const size_class = class_of(capacity);
    if (size_class < unused_.size() && !unused_[size_class].empty()) {
        Word* const again = unused_[size_class].back();
        unused_[size_class].pop_back();
        return again;
    }
    std::size_t const bytes = words_for(capacity) * sizeof(Word);
    if (pools_.empty() || pool_used_ + bytes > pools_.back().bytes()) {
        pools_.push_back(memory_.take(std::max(bytes, pools_.empty() ? first_pool_bytes : pool_bytes)));
        pool_used_ = 0;
    }
    Word* const fresh = pools_.back().as<Word>() + pool_used_ / sizeof(Word);
    pool_used_ += bytes;
    return fresh;
}

void AntichainStore::move(Members const& from, std::uint32_t i, Members const& to, std::uint32_t j) const {
    for (std::size_t w = 0; w < monitor_words_; ++w) to.column(w)[j] = from.column(w)[i];
    to.numbers(monitor_words_)[j] = from.numbers(monitor_words_)[i];
}

void AntichainStore::grow(Members& members) {
    auto const capacity = next_capacity(members.capacity);
    Members const larger{allocate(capacity), members.count, capacity};
    for (std::uint32_t i = 0; i < members.count; ++i) move(members, i, larger, i);
    if (members.capacity > 0) {
        auto const size_class = class_of(members.capacity);
        if (unused_.size() <= size_class) unused_.resize(size_class + 1);
        unused_[size_class].push_back(members.words);
    }
    members = larger;
}

bool AntichainStore::includes(Members const& members, std::uint32_t i, Word const* monitor) const {
    for (std::size_t w = 1; w < monitor_words_; ++w) {
        if ((monitor[w] & ~members.column(w)[i]) != 0) return false;
    }
    return true;
}

bool AntichainStore::is_included(Members const& members, std::uint32_t i, Word const* monitor) const {
    for (std::size_t w = 1; w < monitor_words_; ++w) {
        if ((members.column(w)[i] & ~monitor[w]) != 0) return false;
    }
    return true;
}

bool AntichainStore::insert(Word const* state, std::uint64_t hash, Origin origin) {
    table_.reserve_one();
    auto const same = [&](std::uint32_t key) { return same_words(keys_[key], state, key_words_); };
    auto key = table_.find(hash, same);
    if (key == no_state) {
        key = static_cast<std::uint32_t>(keys_.size());
        copy_words(keys_.append(), state, key_words_);
        table_.add(hash, key);
    }
    auto members = members_of(keys_[key]);
    Word const* const monitor = state + key_words_;
    Word const first = monitor_words_ == 0 ? 0 : monitor[0];
    // If the new one includes a member, no member includes the new one, or it would include that member too.
    for (std::uint32_t i = 0; i < members.count;) {
        Word const other = monitor_words_ == 0 ? 0 : members.words[i];
        bool const may_include = (first & ~other) == 0;
        bool const may_be_included = (other & ~first) == 0;
        if (may_include && includes(members, i, monitor)) return false;
        if (may_be_included && is_included(members, i, monitor)) {
            move(members, --members.count, members, i);
        } else {
            ++i;
        }
    }
    if (members.count == members.capacity) grow(members);
    auto const added = members.count++;
    for (std::size_t w = 0; w < monitor_words_; ++w) members.column(w)[added] = monitor[w];
    members.numbers(monitor_words_)[added] = static_cast<StateNumber>(size());
    set_members(keys_[key], members);
    auto const word = as_word(origin);
    *records_.append() = {origin.parent, static_cast<std::uint32_t>(word >> 32), key};
    return true;
}

bool AntichainStore::load(StateNumber n, Word* state) const {
    Word const* const key = keys_[records_[n]->key];
    auto const members = members_of(key);
    auto const* const numbers = members.numbers(monitor_words_);
    auto const* const found = std::find(numbers, numbers + members.count, n);
    if (found == numbers + members.count) return false;
    copy_words(state, key, key_words_);
    for (std::size_t w = 0; w < monitor_words_; ++w)
        state[key_words_ + w] = members.column(w)[found - numbers];
    return true;
}

Origin AntichainStore::origin(StateNumber n) const {
    auto const& record = *records_[n];
    return as_origin(static_cast<Word>(record.thread_and_choice) << 32 | record.parent);
}

}  // namespace fencepost
