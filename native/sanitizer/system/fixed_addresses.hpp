// Programs look at addresses: they hash them, and sort by them. Under a schedule a program is therefore
// started anew without randomisation of addresses, where the kernel allows that.
#pragma once

namespace fencepost {

// Starts the program anew, unless that has been done or cannot be. Before the program begins: the arguments
// and the environment are those that a function in .preinit_array is given.
void fix_addresses(char** arguments, char** environment);

}  // namespace fencepost
