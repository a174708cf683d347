// Accesses that functions of the C library make in the program's name, for the race detector of mode full.
// `frame`: of the function that the program called.
#pragma once

#include <cstddef>

namespace fencepost {

void note_bytes_read(void const* begin, std::size_t bytes, void const* frame);
void note_bytes_written(void const* begin, std::size_t bytes, void const* frame);

}  // namespace fencepost
