#include "engine/graphs/event_maker.hpp"

namespace fencepost {
namespace {

using Kind = GraphEvent::Kind;

bool synchronises(GraphModel model) {
    return model == GraphModel::ra || model == GraphModel::sra;
}

bool has_modes(GraphModel model) {
    return model == GraphModel::rc20 || model == GraphModel::cpp20;
}

}  // namespace

bool EventMaker::is_event_alone(Access const& access) const {
    if (access.instruction->op != Op::sc_fence) return false;
    bool const is_rmw = synchronises(model_) || model_ == GraphModel::rc20;
    return !(access.instruction->sc && is_rmw);
}

GraphEvent EventMaker::made(Kind kind, std::uint32_t t, NodeId node) const {
    auto const& access = *steps_.access(t, node);
    GraphEvent event;
    event.kind = kind;
    event.thread = t;
    event.node = node;
    event.pc = access.pc;
    event.cell = access.cell;
    event.atomic = !access.instruction->non_atomic;
    return event;
}

void EventMaker::give_modes(GraphEvent& event, bool acquires, bool releases, bool sc) const {
    if (has_modes(model_)) {
        event.acquires = acquires;
        event.releases = releases;
        event.sc = sc && model_ == GraphModel::cpp20;
    } else if (synchronises(model_)) {
        event.acquires = event.releases = event.atomic;
    }
}

void EventMaker::go_on(GraphEvent& event, ThreadSteps::Step const& step) {
    event.step = &step;
    event.after = step.successors.size() == 1 ? step.successors.front() : undecided;
}

GraphEvent EventMaker::choice(std::uint32_t t, ThreadSteps::Step const& step, std::uint32_t number) const {
    GraphEvent event;
    event.kind = Kind::choice;
    event.thread = t;
    event.choice = number;
    event.after = step.successors[number];
    return event;
}

GraphEvent EventMaker::fence(std::uint32_t t, NodeId node) {
    auto event = made(Kind::fence, t, node);
    auto const& i = *steps_.access(t, node)->instruction;
    event.cell = none;
    event.fences = has_modes(model_);
    event.drains = i.sc && model_ == GraphModel::tso;
    if (has_modes(model_)) give_modes(event, i.acquire || i.sc, i.release || i.sc, i.sc);
    go_on(event, steps_.step(t, node, 0));
    return event;
}

GraphEvent EventMaker::store(std::uint32_t t, NodeId node) {
    auto event = made(Kind::write, t, node);
    auto const& access = *steps_.access(t, node);
    event.value = access.first;
    event.drains = access.instruction->sc && model_ == GraphModel::tso;
    give_modes(event, false, access.instruction->release, access.instruction->sc);
    go_on(event, steps_.step(t, node, 0));
    return event;
}

GraphEvent EventMaker::read(std::uint32_t t, NodeId node, EventId source, Value value) {
    return read_again(made(Kind::read, t, node), source, value);
}

GraphEvent EventMaker::read_again(GraphEvent const& read, EventId source, Value value) {
    auto event = read;
    auto const& access = *steps_.access(event.thread, event.node);
    auto const& i = *access.instruction;
    bool const is_fence = i.op == Op::sc_fence;
    event.source = source;
    event.value = value;
    event.after = undecided;
    auto const& step = steps_.step(event.thread, event.node, value);
    event.step = &step;
    event.blocked = step.blocked;
    event.rmw = is_fence || step.written.has_value();
    event.drains = model_ == GraphModel::tso && i.op != Op::load && i.op != Op::wait;
    event.fences = is_fence && has_modes(model_);
    give_modes(event, is_fence || (event.rmw ? i.acquire : i.acquire_alone), false,
               event.rmw ? i.sc : i.sc_alone);
    if (!event.rmw && !event.blocked) go_on(event, step);
    return event;
}

GraphEvent EventMaker::write_of(GraphEvent const& read) const {
    auto event = made(Kind::write, read.thread, read.node);
    auto const& i = *steps_.access(read.thread, read.node)->instruction;
    bool const is_fence = i.op == Op::sc_fence;
    event.rmw = true;
    event.value = read.step->written.value_or(0);
    event.drains = read.drains;
    event.fences = read.fences;
    give_modes(event, false, is_fence || i.release, i.sc);
    go_on(event, *read.step);
    return event;
}

}  // namespace fencepost
