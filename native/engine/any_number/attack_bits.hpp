// What the states of views have in the second half of an attack against TSO (tso/attack.hpp): for each thread
// whether it has joined, for each cell whether it has been read and written since. The attacker, and the cell
// of its delayed write, are part of the global state, so that all attacks are in one search.
#pragma once

#include "engine/any_number/any_number.hpp"
#include "engine/monitors/labels.hpp"
#include "engine/tso/attack.hpp"

namespace fencepost {

class AttackBits {
  public:
    using Monitor = AfterRead;
    static constexpr bool changes_others = false;

    AttackBits(Program const& program, Machine<AfterRead> const& machine)
        : program_(program), machine_(machine) {}

    Machine<AfterRead> const& machine() const { return machine_; }
    bool exist() const { return true; }
    std::size_t words() const { return machine_.words(); }
    void mark_own(std::uint32_t thread, Word* words) const {
        auto const& joined = machine_.monitor().joined(thread);
        words[joined.word] |= joined.mask << joined.shift;
    }
    void to_machine(Word const* joint, Word* state) const { copy_words(state, joint, words()); }

    bool allow(Word const* state, std::uint32_t thread, Access const& access) const {
        bool const writes = machine_.written(state, access).has_value();
        return machine_.monitor().happens_after(state, thread, access.cell, writes);
    }
    LabelNumber step(Word const* successor, Word* joint) const {
        copy_words(joint, successor, words());
        return none;
    }

    bool violates(Word const* /*joint*/, Word const* /*state*/, std::uint32_t /*thread*/) const {
        return false;
    }
    // Whether the attack has succeeded: the cell of the delayed write has been accessed.
    bool violates(Word const* joint) const {
        return machine_.monitor().touched(joint,
                                          AfterRead::cell_of(program_, machine_.monitor_key().get(joint)));
    }

  private:
    Program const& program_;
    Machine<AfterRead> const& machine_;
};

}  // namespace fencepost
