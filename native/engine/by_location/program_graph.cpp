#include "engine/by_location/program_graph.hpp"

namespace fencepost {

Stands::Stands(Program const& program) {
    auto const varies = [&](std::uint32_t e) {
        return e != none && program.expressions[e].shape != Expression::Shape::constant;
    };
    for (auto const& thread : program.threads) {
        auto& depends = depends_.emplace_back(thread.diverged() + 1);
        fixed_.emplace_back(thread.diverged() + 1, none);
        for (std::uint32_t point = 0; point < thread.accesses.size(); ++point) {
            auto const& i = thread.code[thread.accesses[point]];
            bool const compares = i.op == Op::compare_exchange || i.op == Op::blocking_compare_exchange;
            depends[point] = i.index != none || (compares && varies(i.first));
            if (i.op == Op::wait) {
                for (auto e : i.many) depends[point] = depends[point] || varies(e);
            }
        }
    }
}

}  // namespace fencepost
