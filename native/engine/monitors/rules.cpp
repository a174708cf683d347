#include "engine/monitors/rules.hpp"

namespace fencepost {

MonitorParts::MonitorParts(Program const& program, bool has_modes)
    : msc_(program.cells.size(), AwareSet{none}),
      wsc_(program.cells.size(), AwareSet{none}),
      w_(program.cells.size(), View{none}),
      a_(program.threads.size(), View{none}),
      r_(program.threads.size(), View{none}),
      sets_(static_cast<std::uint32_t>(program.threads.size())),
      views_(sets_) {
    std::vector<bool> read(program.cells.size()), written(program.cells.size());
    for (auto const& thread : program.threads) {
        for (auto const& i : thread.code) {
            if (!i.is_access() || i.non_atomic) continue;
            for (std::uint32_t x = i.first_cell; x < i.first_cell + i.cells; ++x) {
                read[x] = read[x] || i.op != Op::store;
                written[x] = written[x] || (i.op != Op::load && i.op != Op::wait);
            }
        }
    }
    for (std::uint32_t x = 0; x < cells(); ++x) {
        if (!written[x]) continue;
        msc_[x] = AwareSet{sets_++};
        if (!read[x]) continue;
        wsc_[x] = AwareSet{sets_++};
        w_[x] = View{views_++};
    }
    if (!has_modes) return;
    View knows_nothing{none};
    for (std::uint32_t t = 0; t < threads(); ++t) {
        bool acquires = false, releases = false;
        for (auto const& i : program.threads[t].code) {
            acquires = acquires || (i.is_fence() && i.op != Op::release_fence);
            releases = releases || (i.is_fence() && i.op != Op::acquire_fence);
        }
        if (acquires) a_[t] = View{views_++};
        if (!releases && !is_kept(knows_nothing)) knows_nothing = View{views_++};
        r_[t] = releases ? View{views_++} : knows_nothing;
    }
}

std::vector<AwareSet> MonitorParts::exchanged_sets(Exchange const& e) const {
    std::vector<AwareSet> to(sets_);
    auto const move = [&to](AwareSet from, AwareSet into) {
        if (is_kept(from)) to[static_cast<std::uint32_t>(from)] = into;
    };
    for (std::uint32_t t = 0; t < threads(); ++t) move(VSC(t), VSC(e.thread(t)));
    for (std::uint32_t x = 0; x < cells(); ++x) {
        move(MSC(x), MSC(e.cell(x)));
        move(WSC(x), WSC(e.cell(x)));
    }
    return to;
}

std::vector<View> MonitorParts::exchanged_views(Exchange const& e) const {
    std::vector<View> to(views_);
    auto const move = [&to](View from, View into) {
        if (is_kept(from)) to[static_cast<std::uint32_t>(from)] = into;
    };
    for (std::uint32_t t = 0; t < threads(); ++t) {
        move(C(t), C(e.thread(t)));
        move(A(t), A(e.thread(t)));
        move(R(t), R(e.thread(t)));
    }
    for (std::uint32_t x = 0; x < cells(); ++x) move(W(x), W(e.cell(x)));
    return to;
}

}  // namespace fencepost
