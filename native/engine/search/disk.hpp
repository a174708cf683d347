// A search that keeps its states in files: breadth first, layer by layer, with duplicates found at the end of
// each layer (delayed duplicate detection; Korf 2004, Munagala and Ranade 1999).
//
// The states of a layer are read one after the other. Their successors are collected in memory, and whenever
// that is full, sorted and written to a file. At the end of the layer these files are merged with each other,
// and with the sorted files of all states known so far: what is in none of those is new. The new states get
// their numbers in the order in which they were made first. So files are only ever read and written from
// front to back, and states have the numbers that any other exact store gives them in a search breadth first:
// the findings are the same.
//
// A state is kept with the number of its parent and its place among the parent's successors. Thread and
// choice follow from these when a run is asked for.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <queue>

#include "engine/search/explorer.hpp"
#include "engine/state/record_file.hpp"

namespace fencepost {

// Records in memory, sorted before they are read.
class SortBuffer {
  public:
    SortBuffer(std::size_t words, std::size_t most_bytes)
        : words_(words),
          most_(std::clamp<std::size_t>(most_bytes / (words * sizeof(Word)), least_records, UINT32_MAX)),
          pages_(most_ * words * sizeof(Word)) {}

    bool is_full() const { return size_ == most_; }
    std::size_t size() const { return size_; }
    Word* append() { return (*this)[size_++]; }
    Word* operator[](std::size_t n) const { return pages_.as<Word>() + n * words_; }
    void clear() { size_ = 0; }
    // The most that it ever had.
    std::size_t bytes() const { return peak_ * words_ * sizeof(Word); }

    // By their words, from this one on.
    void sort(std::size_t first_word) {
        peak_ = std::max(peak_, size_);
        switch (words_) {
            case 2:
                return sort_arrays<2>(first_word);
            case 3:
                return sort_arrays<3>(first_word);
            case 4:
                return sort_arrays<4>(first_word);
            case 5:
                return sort_arrays<5>(first_word);
            case 6:
                return sort_arrays<6>(first_word);
            default:
                return sort_others(first_word);
        }
    }

  private:
    static constexpr std::size_t least_records = 16;

    template <std::size_t words>
    void sort_arrays(std::size_t first_word) {
        auto* const records = pages_.as<std::array<Word, words>>();
        if (first_word == 0) {
            std::sort(records, records + size_);
        } else {
            std::sort(records, records + size_, [=](auto const& a, auto const& b) {
                return is_smaller(&a[first_word], &b[first_word], words - first_word);
            });
        }
    }
    void sort_others(std::size_t first_word) {
        std::vector<std::uint32_t> order(size_);
        for (std::size_t n = 0; n < size_; ++n) order[n] = static_cast<std::uint32_t>(n);
        std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return is_smaller((*this)[a] + first_word, (*this)[b] + first_word, words_ - first_word);
        });
        std::vector<Word> sorted;
        sorted.reserve(size_ * words_);
        for (auto n : order) sorted.insert(sorted.end(), (*this)[n], (*this)[n] + words_);
        std::copy(sorted.begin(), sorted.end(), pages_.as<Word>());
    }

    std::size_t words_, most_;
    Pages pages_;
    std::size_t size_ = 0, peak_ = 0;
};

// The records of several sorted readers, in order.
class MergedReader {
    struct Head {
        Word const* record;
        std::size_t reader;
    };
    static constexpr std::size_t nobody_ = SIZE_MAX;

    auto later() const {
        return [this](Head const& a, Head const& b) {
            return is_smaller(b.record + first_word_, a.record + first_word_, words_ - first_word_);
        };
    }

  public:
    // Sorted by their words from this one on.
    MergedReader(std::size_t words, std::size_t first_word) : words_(words), first_word_(first_word) {}

    void add(RecordReader reader) {
        readers_.push_back(std::move(reader));
        push(readers_.size() - 1);
    }
    // Stays until the one after is asked for.
    Word const* next() {
        if (used_ != nobody_) push(used_);
        used_ = nobody_;
        if (heads_.empty()) return nullptr;
        std::pop_heap(heads_.begin(), heads_.end(), later());
        auto const [record, reader] = heads_.back();
        heads_.pop_back();
        used_ = reader;
        return record;
    }

  private:
    void push(std::size_t reader) {
        auto const* const record = readers_[reader].next();
        if (record == nullptr) return;
        heads_.push_back({record, reader});
        std::push_heap(heads_.begin(), heads_.end(), later());
    }

    std::size_t words_, first_word_;
    std::vector<RecordReader> readers_;
    std::vector<Head> heads_;  // a heap, the first one on top
    std::size_t used_ = nobody_;
};

template <class Monitor>
class DiskExplorer {
  public:
    DiskExplorer(Program const& program, SearchOptions const& options, Watcher const& watcher)
        : machine_(program),
          symmetry_(machine_),
          overseer_(options.limits, watcher),
          words_(machine_.words()),
          expansion_(machine_, symmetry_,
                     options.partial_order ? std::optional<PersistentSets>(program) : std::nullopt),
          buffer_bytes_(std::min(options.limits.bytes / 4, most_buffer_bytes)),
          directory_(options.directory,
                     std::clamp(options.limits.bytes / 256, least_block_bytes, most_block_bytes)),
          states_(directory_, words_ + 1),
          made_(words_ + 1, buffer_bytes_),
          fresh_(words_ + 1, buffer_bytes_),
          recent_(recent_slots) {}

    Result run() {
        result_.state_bytes = words_ * sizeof(Word);
        run_search(result_, [&] {
            try {
                return search();
            } catch (Stopped const& stopped) {
                return stopped.outcome;
            } catch (DiskFailure const& failure) {
                result_.disk_failure = failure.what();
                return Outcome::disk_failure;
            }
        });
        expansion_.clear_successors();
        result_.states = states_.size();
        result_.peak_bytes = std::max(peak_bytes_, bytes());
        result_.disk_bytes = directory_.peak();
        auto const findings = expansion_.findings();
        describe(findings, machine_, symmetry_, {[this](StateNumber n) { return origin(n); }}, result_);
        result_.seconds = overseer_.seconds();
        return std::move(result_);
    }

  private:
    static constexpr std::size_t most_buffer_bytes = std::size_t{512} << 20;
    static constexpr std::size_t least_block_bytes = std::size_t{1} << 10,
                                 most_block_bytes = std::size_t{1} << 18;
    static constexpr std::size_t most_files = 64;  // that are merged at once
    static constexpr std::size_t recent_slots = std::size_t{1} << 14;
    static constexpr std::size_t between_looks = 1024;  // records
    struct Stopped {
        Outcome outcome;
    };

    Outcome search() {
        expansion_.start();
        collect(no_state);
        end_layer();
        for (std::size_t first = 0; first < states_.size();) {
            auto const last = states_.size();
            RecordReader layer(states_, first);
            for (; first < last; ++first) {
                look(first);
                copy_words(expansion_.state(), layer.next(), words_);
                auto const n = static_cast<StateNumber>(first);
                if (expansion_.check(n) || expansion_.step(n)) return Outcome::violation;
                collect(n);
            }
            expanded_ = first;
            end_layer();
        }
        return Outcome::complete;
    }

    // Takes the successors of state n. What was made a moment ago need not be kept again.
    void collect(StateNumber n) {
        auto& successors = expansion_.successors();
        for (std::size_t i = 0; i < successors.size(); ++i) {
            Word const* const state = successors[i];
            auto& slot = recent_[hash_words(state, words_) % recent_slots];
            if (slot < made_.size() && same_words(made_[slot], state, words_)) continue;
            if (made_.is_full()) write_made();
            slot = static_cast<std::uint32_t>(made_.size());
            Word* const record = made_.append();
            copy_words(record, state, words_);
            record[words_] = static_cast<Word>(n) << 32 | i;
        }
        result_.transitions += successors.size();
        expansion_.clear_successors();
    }

    // Of equal states, the one that was made first comes first.
    void write_made() {
        made_.sort(0);
        RecordFile file(directory_, words_ + 1);
        MergedReader sorted(words_ + 1, 0);
        sorted.add(RecordReader(made_[0], made_.size(), words_ + 1));
        write_first_of_each(sorted, file);
        made_.clear();
        made_files_.push_back(std::move(file));
        if (made_files_.size() < most_files) return;
        RecordFile all(directory_, words_ + 1);
        MergedReader merged(words_ + 1, 0);
        for (auto const& one : made_files_) merged.add(RecordReader(one));
        write_first_of_each(merged, all);
        made_files_.clear();
        made_files_.push_back(std::move(all));
    }
    void write_first_of_each(MergedReader& sorted, RecordFile& file) {
        each_first(sorted, [&](Word const* record) { file.append(record); });
    }
    template <class Take>
    void each_first(MergedReader& sorted, Take take) {
        std::vector<Word> last(words_);
        bool is_first = true;
        while (auto const* const record = sorted.next()) {
            look(expanded_);
            if (!is_first && same_words(record, last.data(), words_)) continue;
            copy_words(last.data(), record, words_);
            is_first = false;
            take(record);
        }
    }

    // Finds out which of the states that were made are new, and numbers them.
    void end_layer() {
        made_.sort(0);
        MergedReader made(words_ + 1, 0);
        for (auto const& file : made_files_) made.add(RecordReader(file));
        made.add(RecordReader(made_[0], made_.size(), words_ + 1));
        struct Known {
            RecordReader reader;
            Word const* next = nullptr;
            bool has_begun = false;
        };
        std::vector<Known> known;
        for (auto const& file : known_files_) known.push_back({RecordReader(file)});
        RecordFile layer(directory_, words_);
        std::vector<RecordFile> fresh_files;
        each_first(made, [&](Word const* record) {
            for (auto& [reader, next, has_begun] : known) {
                if (!has_begun || (next != nullptr && is_smaller(next, record, words_)))
                    next = reader.skip_to(record);
                has_begun = true;
                if (next != nullptr && same_words(next, record, words_)) return;
            }
            layer.append(record);
            if (fresh_.is_full()) write_fresh(fresh_files);
            copy_words(fresh_.append(), record, words_ + 1);
        });
        made_.clear();
        made_files_.clear();
        number(fresh_files);
        keep(std::move(layer));
    }

    void write_fresh(std::vector<RecordFile>& files) {
        fresh_.sort(words_);
        RecordFile file(directory_, words_ + 1);
        for (std::size_t n = 0; n < fresh_.size(); ++n) file.append(fresh_[n]);
        fresh_.clear();
        files.push_back(std::move(file));
    }
    // In the order in which they were made.
    void number(std::vector<RecordFile>& files) {
        fresh_.sort(words_);
        MergedReader ordered(words_ + 1, words_);
        for (auto const& file : files) ordered.add(RecordReader(file));
        ordered.add(RecordReader(fresh_[0], fresh_.size(), words_ + 1));
        while (auto const* const record = ordered.next()) {
            if (states_.size() >= no_state - 1) throw OutOfMemory("more states than can be numbered");
            states_.append(record);
        }
        fresh_.clear();
    }

    // Files of known states are merged when the next one is not much smaller: each is at least twice as large
    // as all that come after it.
    void keep(RecordFile layer) {
        if (layer.size() == 0) return;
        std::size_t size = layer.size(), from = known_files_.size();
        while (from > 0 && known_files_[from - 1].size() < 2 * size) size += known_files_[--from].size();
        if (from < known_files_.size()) {
            RecordFile all(directory_, words_);
            MergedReader merged(words_, 0);
            for (auto n = from; n < known_files_.size(); ++n) merged.add(RecordReader(known_files_[n]));
            merged.add(RecordReader(layer));
            while (auto const* const record = merged.next()) {
                look(expanded_);
                all.append(record);
            }
            known_files_.erase(known_files_.begin() + static_cast<std::ptrdiff_t>(from), known_files_.end());
            layer = std::move(all);
        }
        known_files_.push_back(std::move(layer));
    }

    void look(std::size_t expanded) {
        if (++looks_ % between_looks != 0) return;
        Progress const now{states_.size(), result_.transitions, states_.size() - expanded, bytes(), 0};
        peak_bytes_ = std::max(peak_bytes_, now.bytes);
        if (auto const stop = overseer_.look(now)) throw Stopped{*stop};
    }

    Origin origin(StateNumber n) {
        std::vector<Word> record(words_ + 1);
        states_.load(n, record.data());
        auto const parent = static_cast<StateNumber>(record[words_] >> 32);
        auto const place = static_cast<std::uint32_t>(record[words_]);
        if (parent == no_state) return {no_state, 0, place & 0xffffff};
        states_.load(parent, record.data());
        copy_words(expansion_.state(), record.data(), words_);
        expansion_.check(parent);
        expansion_.step(parent);
        auto const origin = expansion_.origins()[place];
        expansion_.clear_successors();
        return origin;
    }

    std::size_t bytes() const {
        auto bytes = made_.bytes() + fresh_.bytes() + states_.bytes();
        for (auto const& file : made_files_) bytes += file.bytes();
        for (auto const& file : known_files_) bytes += file.bytes();
        return bytes;
    }

    Machine<Monitor> machine_;
    Symmetry<Monitor> symmetry_;
    Overseer overseer_;
    std::size_t words_;
    Expansion<Monitor> expansion_;
    std::size_t buffer_bytes_;
    StoreDirectory directory_;
    RecordFile states_;                    // by number; parent, and place among its successors
    SortBuffer made_;                      // successors of the layer
    SortBuffer fresh_;                     // those of them that are new
    std::vector<std::uint32_t> recent_;    // by hash, where a successor is that was made not long ago
    std::vector<RecordFile> made_files_;   // sorted, of successors that found no room in memory
    std::vector<RecordFile> known_files_;  // sorted, of all states with numbers
    std::size_t expanded_ = 0;
    std::uint64_t looks_ = 0;
    std::size_t peak_bytes_ = 0;
    Result result_;
};

}  // namespace fencepost
