// The file of changes at sites (sites=FILE), a site and its changes in a line (docs/sanitizer.md has the
// form):
//
//   counter.c:12:5 store order=release
//   ./counter+0x1a2b compare_exchange order=acq_rel failure=acquire before=seq_cst
//   counter.c:30 fence remove
#pragma once

namespace fencepost {

// Before the program begins. Ends the process if there is a mistake in the file.
void read_sites();

}  // namespace fencepost
