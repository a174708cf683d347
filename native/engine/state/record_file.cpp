#include "engine/state/record_file.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace fencepost {

StoreDirectory::StoreDirectory(std::string path, std::size_t block_bytes)
    : path_(std::move(path)), block_bytes_(block_bytes) {
    ::close(open());  // so that a mistake is known before the search
    look();
}

int StoreDirectory::open() const {
    int file = ::open(path_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
        std::string name = path_ + "/fencepost-XXXXXX";
        file = ::mkostemp(name.data(), O_CLOEXEC);
        if (file >= 0) ::unlink(name.c_str());
    }
    if (file < 0) fail(errno);
    return file;
}

void StoreDirectory::write(int file, Word const* words, std::size_t count) {
    auto const bytes = count * sizeof(Word);
    if (written_ % between_looks + bytes >= between_looks) look();
    auto const* const data = reinterpret_cast<char const*>(words);
    for (std::size_t done = 0; done < bytes;) {
        auto const some = ::write(file, data + done, bytes - done);
        if (some < 0 && errno == EINTR) continue;
        if (some <= 0) fail(some < 0 ? errno : ENOSPC);
        done += static_cast<std::size_t>(some);
    }
    written_ += bytes;
    used_ += bytes;
    peak_ = std::max(peak_, used_);
}

void StoreDirectory::close(int file, std::size_t bytes) {
    ::close(file);
    used_ -= bytes;
}

void StoreDirectory::fail(int error) const {
    throw DiskFailure("cannot write to " + path_ + ": " + std::strerror(error));
}

// Other programs need room too: a twentieth of the disk stays free, or 64 MB if that is less.
void StoreDirectory::look() const {
    struct statvfs disk;
    if (::statvfs(path_.c_str(), &disk) != 0) return;
    auto const free = disk.f_bavail * disk.f_frsize;
    if (free < std::min<std::size_t>(disk.f_blocks * disk.f_frsize / 20, most_kept_free))
        throw DiskFailure("there is hardly any room left in " + path_);
}

RecordFile::~RecordFile() {
    if (file_ >= 0) directory_->close(file_, (size_ * words_ - last_.size()) * sizeof(Word));
}

void RecordFile::swap(RecordFile& other) noexcept {
    std::swap(directory_, other.directory_);
    std::swap(words_, other.words_);
    std::swap(block_, other.block_);
    std::swap(size_, other.size_);
    std::swap(file_, other.file_);
    std::swap(last_, other.last_);
    std::swap(marks_, other.marks_);
}

void RecordFile::begin_block(Word const* first) {
    if (!last_.empty()) {
        if (file_ < 0) file_ = directory_->open();
        directory_->write(file_, last_.data(), last_.size());
        last_.clear();
    }
    marks_.insert(marks_.end(), first, first + words_);
}

void RecordFile::read(std::size_t first, std::size_t count, Word* to) const {
    auto* const data = reinterpret_cast<char*>(to);
    auto const bytes = count * words_ * sizeof(Word);
    auto const from = first * words_ * sizeof(Word);
    for (std::size_t done = 0; done < bytes;) {
        auto const some = ::pread(file_, data + done, bytes - done, static_cast<off_t>(from + done));
        if (some < 0 && errno == EINTR) continue;
        if (some <= 0)
            throw DiskFailure(std::string("cannot read what was written: ") + std::strerror(errno));
        done += static_cast<std::size_t>(some);
    }
}

std::span<Word const> RecordFile::read(std::size_t block, std::vector<Word>& buffer) const {
    if (block + 1 == blocks()) return last_;
    buffer.resize(block_ * words_);
    read(block * block_, block_, buffer.data());
    return buffer;
}

void RecordFile::load(std::size_t n, Word* record) const {
    auto const in_file = (blocks() - 1) * block_;
    if (n < in_file) {
        read(n, 1, record);
    } else {
        copy_words(record, last_.data() + (n - in_file) * words_, words_);
    }
}

Word const* RecordReader::skip_to(Word const* wanted) {
    auto const blocks = file_->blocks();
    auto const starts_before = [&](std::size_t block) {
        return !is_smaller(wanted, file_->mark(block), words_);
    };
    if (next_block_ < blocks && starts_before(next_block_)) {
        auto first = next_block_, last = blocks;  // the first one starts before, the last one does not
        while (last - first > 1) {
            auto const middle = (first + last) / 2;
            (starts_before(middle) ? first : last) = middle;
        }
        next_block_ = first;
        take_next();
    }
    auto const* record = next();
    while (record != nullptr && is_smaller(record, wanted, words_)) record = next();
    return record;
}

}  // namespace fencepost
