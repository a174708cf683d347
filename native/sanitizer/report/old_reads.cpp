#include "sanitizer/report/old_reads.hpp"

#include "sanitizer/report/json.hpp"

namespace fencepost {
namespace {

constexpr std::uint32_t most_told = 64;  // the first ones
std::uint32_t told;

}  // namespace

void report_old_read(Thread const& t, AccessNote const& note, std::uint64_t newest,
                     weak::MissedWrites const& missed) {
    if (told == most_told) return;
    ++told;
    json_old_read(t, note, newest, missed);
}

}  // namespace fencepost
