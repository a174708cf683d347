#include "engine/monitors/rules.hpp"

#include <stdexcept>

namespace fencepost {

namespace {

constexpr auto not_alike = "malformed bytecode: threads or cells renamed are not alike";

}  // namespace

// What the accesses and fences of a program tell about the parts that it needs.
struct MonitorParts::Facts {
    std::vector<bool> read, written, sc;  // per cell; sc: by an SC access
    bool has_sc_access = false, has_sc_fence = false, has_order_fence = false;

    explicit Facts(Program const& program)
        : read(program.cells.size()), written(program.cells.size()), sc(program.cells.size()) {
        for (auto const& thread : program.threads) {
            for (auto const& i : thread.code) add(i);
        }
    }

  private:
    void add(Instruction const& i) {
        has_sc_fence = has_sc_fence || i.op == Op::sc_fence;
        has_order_fence = has_order_fence || i.op == Op::order_fence;
        if (!i.is_access() || i.non_atomic) return;
        bool const is_sc = i.sc || i.sc_alone;
        has_sc_access = has_sc_access || is_sc;
        for (std::uint32_t x = i.first_cell; x < i.first_cell + i.cells; ++x) {
            read[x] = read[x] || i.op != Op::store;
            written[x] = written[x] || (i.op != Op::load && i.op != Op::wait);
            sc[x] = sc[x] || is_sc;
        }
    }
};

MonitorParts::MonitorParts(Program const& program, ModelParts model)
    : msc_(program.cells.size(), AwareSet{none}),
      wsc_(msc_),
      hb_(program.threads.size(), program.cells.size()),
      p_(hb_),
      f_(hb_),
      e_(hb_),
      kw_(program.cells.size(), View{none}),
      km_(kw_),
      sets_(static_cast<std::uint32_t>(program.threads.size())) {
    Facts const facts(program);
    if (model.order ? facts.has_sc_fence : facts.has_order_fence)
        throw std::invalid_argument("malformed bytecode: SC fences of another model");
    add_hb(program, facts, model.modes);
    hb_views_ = views_;
    if (model.order) add_order(facts);
}

void MonitorParts::add_hb(Program const& program, Facts const& facts, bool has_modes) {
    for (auto& view : hb_.current) view = new_view();
    for (std::uint32_t x = 0; x < cells(); ++x) {
        if (!facts.written[x]) continue;
        msc_[x] = AwareSet{sets_++};
        if (!facts.read[x]) continue;
        wsc_[x] = AwareSet{sets_++};
        hb_.message[x] = new_view();
    }
    if (!has_modes) return;
    for (std::uint32_t t = 0; t < threads(); ++t) {
        bool acquires = false, releases = false;
        for (auto const& i : program.threads[t].code) {
            acquires = acquires || (i.is_fence() && i.op != Op::release_fence);
            releases = releases || (i.is_fence() && i.op != Op::acquire_fence);
        }
        if (acquires) hb_.pending[t] = new_view();
        if (!releases && !is_kept(knows_nothing_)) knows_nothing_ = new_view();
        hb_.released[t] = releases ? new_view() : knows_nothing_;
    }
}

void MonitorParts::add_order(Facts const& facts) {
    if (facts.has_sc_access) add_like_hb(p_);
    if (facts.has_order_fence) {
        add_like_hb(f_);
        add_like_hb(e_);
    }
    for (std::uint32_t x = 0; x < cells(); ++x) {
        if (!facts.written[x] || !(facts.has_order_fence || facts.sc[x])) continue;
        km_[x] = new_view();
        if (facts.read[x]) kw_[x] = new_view();
    }
}

void MonitorParts::add_like_hb(Travelling& added) {
    auto const add = [this](std::vector<View>& views, std::vector<View> const& like) {
        for (std::size_t n = 0; n < views.size(); ++n) {
            if (is_kept(like[n])) views[n] = like[n] == knows_nothing_ ? knows_nothing_ : new_view();
        }
    };
    add(added.current, hb_.current);
    add(added.pending, hb_.pending);
    add(added.released, hb_.released);
    add(added.message, hb_.message);
}

std::vector<AwareSet> MonitorParts::renamed_sets(Renaming const& e) const {
    std::vector<AwareSet> to(sets_);
    auto const move = [&to](AwareSet from, AwareSet into) {
        if (!is_kept(from)) return;
        if (!is_kept(into)) throw std::invalid_argument(not_alike);
        to[static_cast<std::uint32_t>(from)] = into;
    };
    for (std::uint32_t t = 0; t < threads(); ++t) move(VSC(t), VSC(e.thread(t)));
    for (std::uint32_t x = 0; x < cells(); ++x) {
        move(MSC(x), MSC(e.cell(x)));
        move(WSC(x), WSC(e.cell(x)));
    }
    return to;
}

std::vector<View> MonitorParts::renamed_views(Renaming const& e) const {
    std::vector<View> to(views_);
    auto const move = [&to](std::vector<View> const& views, std::size_t from, std::size_t into) {
        if (!is_kept(views[from])) return;
        if (!is_kept(views[into])) throw std::invalid_argument(not_alike);
        to[static_cast<std::uint32_t>(views[from])] = views[into];
    };
    for (auto const* v : {&hb_, &p_, &f_, &e_}) {
        for (std::uint32_t t = 0; t < threads(); ++t) {
            move(v->current, t, e.thread(t));
            move(v->pending, t, e.thread(t));
            move(v->released, t, e.thread(t));
        }
        for (std::uint32_t x = 0; x < cells(); ++x) move(v->message, x, e.cell(x));
    }
    for (std::uint32_t x = 0; x < cells(); ++x) {
        move(kw_, x, e.cell(x));
        move(km_, x, e.cell(x));
    }
    return to;
}

}  // namespace fencepost
