# Run by `cmake --install`: the units, for the prefix of this installation, and what the program writes about itself:
# man pages, completions, the sample of a configuration. Needs `program` and `source`.
set(root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")

# One unit, and the same one for each pipeline.
file(READ "${source}/config/lockstep.service" unit)
string(REPLACE "/usr/bin/lockstep" "${CMAKE_INSTALL_PREFIX}/bin/lockstep" unit "${unit}")
file(WRITE "${root}/lib/systemd/system/lockstep.service" "${unit}")
string(REPLACE "/etc/lockstep/lockstep.toml" "/etc/lockstep/%i.toml" unit "${unit}")
string(REPLACE "Description=Lockstep" "Description=Lockstep of %i" unit "${unit}")
file(WRITE "${root}/lib/systemd/system/lockstep@.service" "${unit}")

# What clears up after dead holders of locks.
file(READ "${source}/config/lockstep-locks.service" unit)
string(REPLACE "/usr/bin/lockstep" "${CMAKE_INSTALL_PREFIX}/bin/lockstep" unit "${unit}")
file(WRITE "${root}/lib/systemd/system/lockstep-locks.service" "${unit}")

# says(FILE OPTION…): what the program prints.
function(says file)
  execute_process(COMMAND "${program}" ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE "${root}/${file}" "${text}")
endfunction()
says(share/bash-completion/completions/lockstep --completion bash)
says(share/zsh/site-functions/_lockstep --completion zsh)
says(share/fish/vendor_completions.d/lockstep.fish --completion fish)
says(share/doc/lockstep/examples/lockstep.toml.sample print-config --sample)
execute_process(COMMAND "${program}" --man-pages "${root}/share/man/man1" OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
