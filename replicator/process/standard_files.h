// Standard input, output and error, which whoever starts a program may have closed.
#pragma once

namespace lockstep {

/// Gives each of them that is closed a descriptor of its own, so that no other file gets its number. Reading
/// or writing it fails with EBADF, as before (as gnulib's stdopen does it). REQUIRES: nothing else was opened
/// yet.
void open_standard_files();

}  // namespace lockstep
