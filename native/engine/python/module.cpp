// The engine's face to Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "engine/any_number/any_number.hpp"
#include "engine/any_number/attacks.hpp"
#include "engine/by_location/explore.hpp"
#include "engine/monitors/topics.hpp"
#include "engine/program/program_builder.hpp"
#include "engine/python/bindings.hpp"
#include "engine/tso/pivot.hpp"
#include "engine/tso/tso.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace fencepost {
namespace {

Result explore_releasing_gil(Program const& program, Model model, Order order, StoreKind store,
                             bool partial_order, bool merging, bool lookahead, std::uint32_t threads,
                             Variation const& variation, std::uint64_t most_states, double most_seconds,
                             std::size_t most_bytes, std::optional<Report> report,
                             std::pair<std::uint32_t, std::uint32_t> part, bool may_compress,
                             std::string directory) {
    auto const watcher = watcher_for(std::move(report));
    nb::gil_scoped_release release;
    SearchOptions const options{order,
                                store,
                                partial_order,
                                merging,
                                lookahead,
                                threads,
                                may_compress,
                                {most_states, most_seconds, most_bytes},
                                variation,
                                {part.first, part.second},
                                std::move(directory)};
    return explore(program, model, options, watcher);
}

TsoResult explore_tso_releasing_gil(Program const& program, Criterion criterion, bool all,
                                    std::optional<std::uint32_t> pivot, std::uint64_t most_states,
                                    double most_seconds, std::size_t most_bytes,
                                    std::optional<Report> report) {
    if (pivot && *pivot >= program.threads.size()) throw std::invalid_argument("pivot");
    auto const watcher = watcher_for(std::move(report));
    nb::gil_scoped_release release;
    return explore_tso(program, {criterion, all, pivot.value_or(none)},
                       {most_states, most_seconds, most_bytes}, watcher);
}

// Whether two threads can stand for one template: they have the same parts of a state.
bool are_alike(Thread const& a, Thread const& b) {
    return a.registers == b.registers && a.accesses == b.accesses && a.taintable == b.taintable &&
           std::ranges::equal(a.code, b.code, {}, &Instruction::op, &Instruction::op);
}

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// Each template is given as the numbers of its two threads.
AnyNumberQuestion any_number_question(Program const& program, Pairs const& templates, std::uint32_t k,
                                      std::optional<std::uint32_t> reader) {
    AnyNumberQuestion question{{}, k, {}, reader};
    auto const threads = program.threads.size();
    for (auto const& [actor, bystander] : templates) {
        if (actor >= threads || bystander >= threads || actor == bystander ||
            !are_alike(program.threads[actor], program.threads[bystander]))
            throw std::invalid_argument("templates");
        question.templates.push_back({actor, bystander});
    }
    if (k == 0 || k > most_threads || templates.empty() || threads > TopicRules::most_threads)
        throw std::invalid_argument("threads of views");
    return question;
}

AnyNumberResult explore_any_number_releasing_gil(Program const& program, Model model, Pairs const& templates,
                                                 std::uint32_t k, std::optional<std::uint32_t> reader,
                                                 Pairs const& exclusive, std::uint64_t most_states,
                                                 double most_seconds, std::size_t most_bytes,
                                                 std::optional<Report> report) {
    auto question = any_number_question(program, templates, k, reader);
    for (auto const& [thread, pc] : exclusive) question.exclusive.push_back({thread, pc});
    auto const watcher = watcher_for(std::move(report));
    nb::gil_scoped_release release;
    return explore_any_number(program, model, question, {most_states, most_seconds, most_bytes}, watcher);
}

AnyNumberResult explore_attacks_releasing_gil(Program const& program, Pairs const& templates, std::uint32_t k,
                                              std::optional<std::uint32_t> attacker,
                                              std::uint64_t most_states, double most_seconds,
                                              std::size_t most_bytes, std::optional<Report> report) {
    auto const question = any_number_question(program, templates, k, attacker);
    auto const watcher = watcher_for(std::move(report));
    nb::gil_scoped_release release;
    return explore_attacks(program, question, {most_states, most_seconds, most_bytes}, watcher);
}

// Per cell what others write and what it can hold.
bool is_safe_pivot_among(Program const& program, std::uint32_t pivot,
                         std::vector<std::pair<std::vector<Value>, std::vector<Value>>> const& cells,
                         std::uint64_t most_states) {
    if (pivot >= program.threads.size() || cells.size() != program.cells.size())
        throw std::invalid_argument("pivot or cells");
    std::vector<OpenCell> open;
    for (auto const& [written, held] : cells) {
        for (auto v : held) {
            if (v > program.max_value) throw std::invalid_argument("value");
        }
        open.push_back({written, held});
    }
    nb::gil_scoped_release release;
    return is_safe_pivot(program, pivot, open, most_states);
}

void bind_program(nb::module_& m) {
    nb::enum_<ExpressionOp>(m, "ExpressionOp")
        .value("PUSH_CONSTANT", ExpressionOp::push_constant)
        .value("PUSH_REGISTER", ExpressionOp::push_register)
        .value("NEGATE", ExpressionOp::negate)
        .value("NOT", ExpressionOp::logical_not)
        .value("MULTIPLY", ExpressionOp::multiply)
        .value("DIVIDE", ExpressionOp::divide)
        .value("REMAINDER", ExpressionOp::remainder)
        .value("ADD", ExpressionOp::add)
        .value("SUBTRACT", ExpressionOp::subtract)
        .value("LESS", ExpressionOp::less)
        .value("LESS_EQUAL", ExpressionOp::less_equal)
        .value("GREATER", ExpressionOp::greater)
        .value("GREATER_EQUAL", ExpressionOp::greater_equal)
        .value("EQUAL", ExpressionOp::equal)
        .value("NOT_EQUAL", ExpressionOp::not_equal)
        .value("BIT_AND", ExpressionOp::bit_and)
        .value("BIT_XOR", ExpressionOp::bit_xor)
        .value("BIT_OR", ExpressionOp::bit_or)
        .value("TO_BOOL", ExpressionOp::to_bool)
        .value("AND_JUMP", ExpressionOp::and_jump)
        .value("OR_JUMP", ExpressionOp::or_jump);
    nb::enum_<Op>(m, "Op")
        .value("ASSIGN", Op::assign)
        .value("BRANCH", Op::branch)
        .value("GOTO", Op::go_to)
        .value("CHOOSE", Op::choose)
        .value("ASSERT", Op::assert_)
        .value("ASSUME", Op::assume)
        .value("SKIP", Op::skip)
        .value("LOAD", Op::load)
        .value("STORE", Op::store)
        .value("FETCH_ADD", Op::fetch_add)
        .value("FETCH_AND", Op::fetch_and)
        .value("FETCH_OR", Op::fetch_or)
        .value("FETCH_XOR", Op::fetch_xor)
        .value("EXCHANGE", Op::exchange)
        .value("COMPARE_EXCHANGE", Op::compare_exchange)
        .value("BLOCKING_COMPARE_EXCHANGE", Op::blocking_compare_exchange)
        .value("WAIT", Op::wait)
        .value("SC_FENCE", Op::sc_fence)
        .value("ACQUIRE_FENCE", Op::acquire_fence)
        .value("RELEASE_FENCE", Op::release_fence)
        .value("ACQUIRE_RELEASE_FENCE", Op::acquire_release_fence)
        .value("DRAIN", Op::drain)
        .value("ORDER_FENCE", Op::order_fence);
    nb::class_<Program>(m, "Program");
    nb::class_<ProgramBuilder>(m, "ProgramBuilder")
        .def(nb::init<Value, bool>(), "max_value"_a, "wraps"_a)
        .def("add_cell", &ProgramBuilder::add_cell, "initial"_a, "atomic"_a, "plain"_a, "plain_others"_a,
             "free"_a, "free_others"_a)
        .def("add_expression", &ProgramBuilder::add_expression, "steps"_a, "wide"_a)
        .def("add_thread", &ProgramBuilder::add_thread, "registers"_a, "dead_at_end"_a)
        .def("forget", &ProgramBuilder::forget, "registers"_a)
        .def("track_taints", &ProgramBuilder::track_taints, "taintable"_a, "used_at_end"_a)
        .def("observe", &ProgramBuilder::observe, "registers"_a)
        .def("add_instruction", &ProgramBuilder::add_instruction, "op"_a, nb::kw_only(), "reg"_a = nb::none(),
             "first_cell"_a = 0, "cells"_a = 1, "index"_a = nb::none(), "first"_a = nb::none(),
             "second"_a = nb::none(), "many"_a = std::vector<std::uint32_t>(), "target"_a = 0,
             "acquire"_a = false, "acquire_alone"_a = false, "release"_a = false, "sc"_a = false,
             "sc_alone"_a = false, "non_atomic"_a = false, "local"_a = false, "taints"_a = false)
        .def("add_exchange", &ProgramBuilder::add_exchange, "first"_a, "second"_a, "cells"_a, "values"_a)
        .def("add_rotation", &ProgramBuilder::add_rotation, "modulus"_a, "step"_a, "pivot"_a, "cells"_a,
             "registers"_a, "arrays"_a, "lift"_a = nb::none())
        .def("clear_renamings", &ProgramBuilder::clear_renamings)
        .def("finish", &ProgramBuilder::finish);
}

void bind_result(nb::module_& m) {
    nb::enum_<EventKind>(m, "EventKind")
        .value("READ", EventKind::read)
        .value("WRITE", EventKind::write)
        .value("READ_MODIFY_WRITE", EventKind::read_modify_write)
        .value("FENCE", EventKind::fence);
    nb::enum_<FailureKind>(m, "FailureKind")
        .value("ASSERTION", FailureKind::assertion)
        .value("DIVISION_BY_ZERO", FailureKind::division_by_zero)
        .value("INDEX_OUT_OF_RANGE", FailureKind::index_out_of_range)
        .value("TAINTED_USE", FailureKind::tainted_use);
    nb::enum_<Outcome>(m, "Outcome")
        .value("COMPLETE", Outcome::complete)
        .value("VIOLATION", Outcome::violation)
        .value("STATE_LIMIT", Outcome::state_limit)
        .value("TIME_LIMIT", Outcome::time_limit)
        .value("MEMORY_LIMIT", Outcome::memory_limit)
        .value("INTERRUPTED", Outcome::interrupted)
        .value("ENDLESS_LOCAL_RUN", Outcome::endless_local_run)
        .value("VALUE_LIMIT", Outcome::value_limit)
        .value("DISK_FAILURE", Outcome::disk_failure)
        .value("INEXACT", Outcome::inexact);
    nb::class_<Event>(m, "Event")
        .def_ro("thread", &Event::thread)
        .def_ro("pc", &Event::pc)
        .def_ro("kind", &Event::kind)
        .def_ro("cell", &Event::cell)
        .def_ro("read", &Event::read)
        .def_ro("written", &Event::written)
        .def_ro("taints", &Event::taints);
    nb::class_<Violation>(m, "Violation")
        .def_ro("run", &Violation::run)
        .def_ro("thread", &Violation::thread)
        .def_ro("pc", &Violation::pc)
        .def_ro("cell", &Violation::cell)
        .def_ro("first", &Violation::first)
        .def_ro("second", &Violation::second)
        .def_ro("awaited", &Violation::awaited);
    nb::class_<Race::Earlier>(m, "EarlierAccess")
        .def_ro("write", &Race::Earlier::write)
        .def_ro("thread", &Race::Earlier::thread);
    nb::class_<Race>(m, "Race").def_ro("run", &Race::run).def_ro("earlier", &Race::earlier);
    nb::class_<Failure>(m, "Failure")
        .def_ro("kind", &Failure::kind)
        .def_ro("thread", &Failure::thread)
        .def_ro("pc", &Failure::pc)
        .def_ro("reg", &Failure::reg)
        .def_ro("registers", &Failure::registers);
    nb::class_<FailedRun>(m, "FailedRun")
        .def_ro("run", &FailedRun::run)
        .def_ro("failure", &FailedRun::failure);
    nb::class_<Deadlock::Waiting>(m, "WaitingThread")
        .def_ro("thread", &Deadlock::Waiting::thread)
        .def_ro("pc", &Deadlock::Waiting::pc)
        .def_ro("cell", &Deadlock::Waiting::cell)
        .def_ro("held", &Deadlock::Waiting::held);
    nb::class_<Deadlock>(m, "Deadlock").def_ro("run", &Deadlock::run).def_ro("waiting", &Deadlock::waiting);
    nb::class_<Result>(m, "Result")
        .def_ro("outcome", &Result::outcome)
        .def_ro("states", &Result::states)
        .def_ro("transitions", &Result::transitions)
        .def_ro("state_bytes", &Result::state_bytes)
        .def_ro("peak_bytes", &Result::peak_bytes)
        .def_ro("disk_bytes", &Result::disk_bytes)
        .def_ro("disk_failure", &Result::disk_failure)
        .def_ro("seconds", &Result::seconds)
        .def_ro("bits_used", &Result::bits_used)
        .def_ro("compressed_after", &Result::compressed_after)
        .def_ro("violation", &Result::violation)
        .def_ro("tainted_use", &Result::tainted_use)
        .def_ro("race", &Result::race)
        .def_ro("failure", &Result::failure)
        .def_ro("deadlock", &Result::deadlock)
        .def_ro("endless_thread", &Result::endless_thread)
        .def_ro("endless_pc", &Result::endless_pc)
        .def_ro("endless_choices", &Result::endless_choices);
    nb::class_<TsoViolation>(m, "TsoViolation")
        .def_ro("run", &TsoViolation::run)
        .def_ro("alone", &TsoViolation::alone)
        .def_ro("others", &TsoViolation::others)
        .def_ro("path", &TsoViolation::path);
    nb::class_<AnyNumberResult>(m, "AnyNumberResult")
        .def_ro("search", &AnyNumberResult::search)
        .def_ro("violation", &AnyNumberResult::violation)
        .def_ro("race", &AnyNumberResult::race)
        .def_ro("failure", &AnyNumberResult::failure)
        .def_ro("together", &AnyNumberResult::together)
        .def_ro("globals", &AnyNumberResult::globals)
        .def_ro("locals", &AnyNumberResult::locals);
    nb::class_<TsoResult>(m, "TsoResult")
        .def_ro("search", &TsoResult::search)
        .def_ro("violations", &TsoResult::violations);
}

}  // namespace
}  // namespace fencepost

NB_MODULE(_native, m) {
    using namespace fencepost;
    nb::enum_<Model> models(m, "Model");
    [&]<std::size_t... row>(std::index_sequence<row...>) {
        (models.value(std::tuple_element_t<row, Models>::name, Model{row}), ...);
    }(std::make_index_sequence<std::tuple_size_v<Models>>());
    nb::enum_<Order>(m, "Order")
        .value("BREADTH_FIRST", Order::breadth_first)
        .value("DEPTH_FIRST", Order::depth_first)
        .value("LARGEST_FIRST", Order::largest_first)
        .value("BY_LOCATION", Order::by_location)
        .value("AT_RANDOM", Order::at_random);
    nb::class_<Variation>(m, "Variation")
        .def(nb::init<std::uint64_t, std::uint32_t, std::uint32_t, std::size_t>(), "seed"_a,
             "bits_per_state"_a, "deepest"_a, "bits_bytes"_a);
    nb::enum_<StoreKind>(m, "StoreKind")
        .value("MAXIMAL", StoreKind::maximal)
        .value("EXACT", StoreKind::exact)
        .value("COMPRESSED", StoreKind::compressed)
        .value("BITSTATE", StoreKind::bitstate);
    bind_program(m);
    bind_result(m);
    m.def("explore", &explore_releasing_gil, "program"_a, "model"_a, "order"_a, "store"_a, "partial_order"_a,
          "merging"_a, "lookahead"_a, "threads"_a, "variation"_a, "most_states"_a, "most_seconds"_a,
          "most_bytes"_a, "report"_a, "part"_a = std::pair(0u, 1u), "may_compress"_a = false,
          "directory"_a = "");
    nb::enum_<Criterion>(m, "Criterion")
        .value("PERSISTENT", Criterion::persistent)
        .value("TRF", Criterion::trf)
        .value("ROBUST", Criterion::robust);
    m.def("explore_tso", &explore_tso_releasing_gil, "program"_a, "criterion"_a, "all"_a, "pivot"_a.none(),
          "most_states"_a, "most_seconds"_a, "most_bytes"_a, "report"_a);
    m.def("explore_any_number", &explore_any_number_releasing_gil, "program"_a, "model"_a, "templates"_a,
          "k"_a, "reader"_a.none(), "exclusive"_a, "most_states"_a, "most_seconds"_a, "most_bytes"_a,
          "report"_a);
    m.def("explore_attacks", &explore_attacks_releasing_gil, "program"_a, "templates"_a, "k"_a,
          "attacker"_a.none(), "most_states"_a, "most_seconds"_a, "most_bytes"_a, "report"_a);
    m.def("is_safe_pivot", &is_safe_pivot_among, "program"_a, "pivot"_a, "cells"_a, "most_states"_a);
    m.def("reachable", &reachable, "program"_a, "most_states"_a);
    bind_sra(m);
    bind_enumeration(m);
}
