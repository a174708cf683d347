// Files of records against lists, with blocks of a few records, so that there are many of them.
//
// links: engine/state/record_file.cpp
#include <dirent.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "engine/state/record_file.hpp"
#include "tests/native/check.hpp"

using namespace fencepost;

namespace {

using Record = std::vector<Word>;

// A directory of its own, in which no file must ever be left.
struct Place {
    std::string path = "/tmp/record_files-XXXXXX";

    Place() { CHECK(mkdtemp(path.data()) != nullptr); }
    ~Place() {
        int entries = 0;
        DIR* const directory = opendir(path.c_str());
        while (readdir(directory) != nullptr) ++entries;
        closedir(directory);
        CHECK(entries == 2);
        std::remove(path.c_str());
    }
};

std::vector<Record> sorted_records(Chance& chance, std::size_t count, std::size_t words) {
    std::set<Record> records;
    while (records.size() < count) {
        Record record(words);
        for (auto& word : record)
            word = chance.below(3) + (&word == &record.back() ? chance.word() >> 40 : 0);
        records.insert(record);
    }
    return {records.begin(), records.end()};
}

Record copy(Word const* record, std::size_t words) {
    return {record, record + words};
}

void are_read_back(Place const& place, std::uint64_t seed, std::size_t words, std::size_t count) {
    Chance chance(seed);
    StoreDirectory directory(place.path, 100);
    auto const records = sorted_records(chance, count, words);
    bool const is_long = count > std::max<std::size_t>(100 / (words * sizeof(Word)), 1);  // more than a block
    {
        RecordFile written(directory, words);
        for (auto const& record : records) written.append(record.data());
        RecordFile const file = std::move(written);
        CHECK(file.size() == count);
        CHECK((directory.used() > 0) == is_long);
        for (std::size_t first = 0; first <= count; first += 1 + count / 7) {
            RecordReader reader(file, first);
            for (auto n = first; n < count; ++n) CHECK(copy(reader.next(), words) == records[n]);
            CHECK(reader.next() == nullptr);
        }
        Record loaded(words);
        for (std::size_t i = 0; i < 20 && count > 0; ++i) {
            auto const n = chance.below(count);
            file.load(n, loaded.data());
            CHECK(loaded == records[n]);
        }
        // Skips to records that are there and to others, near and far.
        for (std::size_t step = 1; step < 200; step *= 3) {
            RecordReader reader(file);
            auto at = records.begin();
            auto const* found = reader.next();
            for (auto const& wanted : sorted_records(chance, 200 / step, words)) {
                if (found == nullptr || !is_smaller(found, wanted.data(), words)) continue;
                found = reader.skip_to(wanted.data());
                at = std::lower_bound(at, records.end(), wanted);
                CHECK((found == nullptr) == (at == records.end()));
                if (found != nullptr) CHECK(copy(found, words) == *at);
            }
        }
    }
    CHECK(directory.used() == 0);
    CHECK((directory.peak() > 0) == is_long);
}

void a_directory_that_is_not_there_is_told() {
    CHECK(throws<DiskFailure>([] { StoreDirectory const directory("/nowhere/at/all", 100); }));
}

}  // namespace

int main() {
    Place const place;
    std::uint64_t seed = 0;
    for (std::size_t words : {1, 2, 5, 20}) {
        for (std::size_t count : {0, 1, 6, 500}) are_read_back(place, ++seed, words, count);
    }
    a_directory_that_is_not_there_is_told();
}
