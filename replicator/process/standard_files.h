// Standard input, output and error, which the caller of a program may have closed.
#pragma once

#include <cstddef>
#include <string>

namespace lockstep {

/// Gives each of them that is closed a descriptor of its own, so that no other file gets its number. Reading
/// or writing it fails with EBADF, as before (as gnulib's stdopen does it). REQUIRES: nothing else was opened
/// yet.
void open_standard_files();

/// All of standard input, or its beginning if that is longer than `limit` bytes. Throws Error if it cannot
/// be read to its end.
std::string read_standard_input(std::size_t limit);

}  // namespace lockstep
