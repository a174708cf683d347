#include "engine/monitors/hbsc.hpp"

namespace fencepost {

CellUse::CellUse(Program const& program) : read(program.cells.size()), written(program.cells.size()) {
    for (auto const& thread : program.threads) {
        for (auto const& i : thread.code) {
            if (!i.is_access() || i.non_atomic) continue;
            for (std::uint32_t x = i.first_cell; x < i.first_cell + i.cells; ++x) {
                read[x] = read[x] || i.op != Op::store;
                written[x] = written[x] || (i.op != Op::load && i.op != Op::wait);
            }
        }
    }
}

std::vector<std::uint32_t> CellUse::number_messages(std::size_t first) const {
    std::vector<std::uint32_t> numbers(read.size(), none);
    auto next = static_cast<std::uint32_t>(first);
    for (std::size_t x = 0; x < numbers.size(); ++x) {
        if (written[x] && read[x]) numbers[x] = next++;
    }
    return numbers;
}

std::size_t CellUse::messages() const {
    std::size_t count = 0;
    for (std::size_t x = 0; x < read.size(); ++x) count += written[x] && read[x];
    return count;
}

FenceUse::FenceUse(Thread const& thread) {
    for (auto const& i : thread.code) {
        acquires = acquires || (i.is_fence() && i.op != Op::release_fence);
        releases = releases || (i.is_fence() && i.op != Op::acquire_fence);
    }
}

Hbsc::Hbsc(Program const& program, CellUse const& use, Layout& layout)
    : element_(program.cells.size()),
      msc_(program.cells.size(), none),
      wsc_(program.cells.size(), none),
      everywhere_(program.cells.size()),
      threads_(program.threads.size()) {
    BitNumbering counter;
    auto sets = static_cast<std::uint32_t>(threads_);
    for (std::uint32_t x = 0; x < program.cells.size(); ++x) {
        auto const& cell = program.cells[x];
        if (cell.plain.size() + cell.free.size() > 0) {
            auto const [piece, bit] = counter.next();
            element_[x] = {piece, bit};
        }
        if (use.written[x]) msc_[x] = sets++;
        if (use.written[x] && use.read[x]) wsc_[x] = sets++;
    }
    sets_ = SetArray(layout, sets, counter.piece_bits());
    for (std::uint32_t x = 0; x < program.cells.size(); ++x) {
        if (element_[x].bit == 0) continue;
        for (std::size_t set = 0; set < sets; ++set) {
            everywhere_[x].add(sets_[set][element_[x].piece], element_[x].bit);
        }
    }
}

void Hbsc::start(Word* state) const {
    for (std::uint32_t x = 0; x < element_.size(); ++x) {
        for (std::size_t t = 0; t < threads_; ++t) insert(state, t, x);
        if (msc_[x] != none) insert(state, msc_[x], x);
        if (wsc_[x] != none) insert(state, wsc_[x], x);
    }
}

void Hbsc::add_exchange(Exchange const& e, BitSwaps& swaps) const {
    auto const exchange = [&](std::size_t from, std::size_t to) {
        for (std::uint32_t x = 0; x < element_.size(); ++x) {
            auto const &a = element_[x], &b = element_[e.cell(x)];
            if (a.bit != 0) swaps.add(sets_[from][a.piece], a.bit, sets_[to][b.piece], b.bit);
        }
    };
    for (std::uint32_t t = 0; t < threads_; ++t) exchange(t, e.thread(t));
    for (std::uint32_t x = 0; x < element_.size(); ++x) {
        if (msc_[x] != none) exchange(msc_[x], msc_[e.cell(x)]);
        if (wsc_[x] != none) exchange(wsc_[x], wsc_[e.cell(x)]);
    }
}

}  // namespace fencepost
