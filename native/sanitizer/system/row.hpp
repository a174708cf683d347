// A row of plain values that grows, in the library's own memory (memory.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "sanitizer/system/memory.hpp"

namespace fencepost {

template <class T>
class Row {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    Row() = default;
    ~Row() { memory::release_array(items_, room_); }
    Row(Row const&) = delete;
    Row& operator=(Row const&) = delete;

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T& operator[](std::size_t i) { return items_[i]; }
    T const& operator[](std::size_t i) const { return items_[i]; }
    T* begin() { return items_; }
    T* end() { return items_ + size_; }
    T const* begin() const { return items_; }
    T const* end() const { return items_ + size_; }

    void add(T const& item) {
        T const copy = item;  // it may lie in this row
        if (size_ == room_) grow(room_ == 0 ? 4 : 2 * room_);
        items_[size_++] = copy;
    }
    void remove(std::size_t i) {
        std::memmove(items_ + i, items_ + i + 1, (size_ - i - 1) * sizeof(T));
        --size_;
    }
    void cut(std::size_t size) { size_ = size; }
    void clear() { size_ = 0; }

  private:
    void grow(std::size_t room) {
        T* const larger = memory::allocate_array<T>(room);
        std::copy_n(items_, size_, larger);
        memory::release_array(items_, room_);
        items_ = larger;
        room_ = room;
    }

    T* items_ = nullptr;
    std::size_t size_ = 0;
    std::size_t room_ = 0;
};

}  // namespace fencepost
