#pragma once

#include <nanobind/nanobind.h>

namespace holdfast {

void bind_sra(nanobind::module_& m);

}  // namespace holdfast
