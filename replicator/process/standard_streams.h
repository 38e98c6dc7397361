// The descriptors 0, 1 and 2, whatever the program was started with.
#pragma once

#include <cstddef>
#include <string>

namespace lockstep {

/// Opens those that were closed when the program started, before anything else is opened: a connection in
/// their place would get what is printed, or be read as standard input. They stay of no use: reading and
/// writing fail. Ends the program where /dev/null cannot be opened.
void reserve_standard_streams();

/// All of standard input, or its beginning when that is longer than `limit` bytes. Throws Error when it
/// cannot be read to its end.
std::string read_standard_input(std::size_t limit);

}  // namespace lockstep
