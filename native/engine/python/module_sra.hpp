#pragma once

#include <nanobind/nanobind.h>

namespace fencepost {

void bind_sra(nanobind::module_& m);

}  // namespace fencepost
