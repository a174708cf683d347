// Ordinary runs have no schedule, no weak executions, no sites that are changed or listed, and no methods of
// <atomic> as functions of their own. Operations then skip all that asks for these.
#pragma once

namespace fencepost {

// Becomes false before there is any of it, and stays so.
inline bool run_is_ordinary = true;

}  // namespace fencepost
