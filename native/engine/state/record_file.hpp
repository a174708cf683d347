// Records of some words each in a file, written at its end and read from the front to the back.
//
// The files have no names, so none is left behind, however the process ends. What does not fill a block yet
// stays in memory; a short file is never made at all.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/state/field.hpp"

namespace fencepost {

// A directory cannot take more, with the reason.
struct DiskFailure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Where the files of a search are. It counts what is in them, and stops before the disk is full.
class StoreDirectory {
  public:
    StoreDirectory(std::string path, std::size_t block_bytes);

    int open() const;
    void write(int file, Word const* words, std::size_t count);
    void close(int file, std::size_t bytes);
    std::size_t block_bytes() const { return block_bytes_; }
    std::size_t used() const { return used_; }
    std::size_t peak() const { return peak_; }

  private:
    static constexpr std::size_t between_looks = std::size_t{16} << 20;  // bytes written
    static constexpr std::size_t most_kept_free = std::size_t{64} << 20;

    [[noreturn]] void fail(int error) const;
    void look() const;

    std::string path_;
    std::size_t block_bytes_;
    std::size_t used_ = 0, peak_ = 0, written_ = 0;
};

class RecordFile {
  public:
    RecordFile(StoreDirectory& directory, std::size_t words)
        : directory_(&directory),
          words_(words),
          block_(std::max<std::size_t>(directory.block_bytes() / (words * sizeof(Word)), 1)) {}
    RecordFile(RecordFile&& other) noexcept { swap(other); }
    RecordFile& operator=(RecordFile&& other) noexcept {
        swap(other);
        return *this;
    }
    RecordFile(RecordFile const&) = delete;
    RecordFile& operator=(RecordFile const&) = delete;
    ~RecordFile();

    // Throws DiskFailure.
    void append(Word const* record) {
        if (size_ % block_ == 0) begin_block(record);
        last_.insert(last_.end(), record, record + words_);
        ++size_;
    }
    std::size_t size() const { return size_; }
    std::size_t words() const { return words_; }
    void load(std::size_t n, Word* record) const;
    // In memory, with a block for a reader.
    std::size_t bytes() const {
        auto const words = last_.capacity() + marks_.capacity() + (file_ < 0 ? 0 : block_ * words_);
        return words * sizeof(Word);
    }

  private:
    friend class RecordReader;

    void swap(RecordFile& other) noexcept;
    void begin_block(Word const* first);
    std::size_t blocks() const { return marks_.size() / words_; }
    Word const* mark(std::size_t block) const { return marks_.data() + block * words_; }
    // The records of a block: in the last block, where they are; in others, read into the buffer.
    std::span<Word const> read(std::size_t block, std::vector<Word>& buffer) const;
    void read(std::size_t first, std::size_t count, Word* to) const;

    StoreDirectory* directory_ = nullptr;
    std::size_t words_ = 1, block_ = 1;  // records
    std::size_t size_ = 0;
    int file_ = -1;
    std::vector<Word> last_;   // block, which is not in the file
    std::vector<Word> marks_;  // the first record of each block
};

// Goes through a file, which must not change meanwhile, or through records in memory.
class RecordReader {
  public:
    explicit RecordReader(RecordFile const& file, std::size_t first = 0)
        : file_(&file),
          words_(file.words()),
          next_block_(first / file.block_),
          skipped_(first % file.block_ * file.words()) {}
    RecordReader(Word const* records, std::size_t count, std::size_t words)
        : words_(words), records_(records, count * words) {}

    // The next record, which stays until the one after is asked for, or nothing.
    Word const* next() {
        if (at_ == records_.size() && !take_next()) return nullptr;
        auto const* const record = records_.data() + at_;
        at_ += words_;
        return record;
    }
    // In a file whose records are sorted by their words: the next record that is not smaller than this one.
    Word const* skip_to(Word const* wanted);

  private:
    bool take_next() {
        if (file_ == nullptr || next_block_ >= file_->blocks()) return false;
        records_ = file_->read(next_block_++, buffer_);
        at_ = std::exchange(skipped_, 0);
        return at_ < records_.size();
    }

    RecordFile const* file_ = nullptr;
    std::size_t words_;
    std::size_t next_block_ = 0;
    std::size_t skipped_ = 0;  // words at the beginning of the next block
    std::size_t at_ = 0;       // in the records of this one, in words
    std::span<Word const> records_;
    std::vector<Word> buffer_;
};

inline bool is_smaller(Word const* a, Word const* b, std::size_t words) {
    for (std::size_t i = 0; i < words; ++i) {
        if (a[i] != b[i]) return a[i] < b[i];
    }
    return false;
}

}  // namespace fencepost
