# Compiles text files into the program, so that the installed program is one file.
#
#   lockstep_embed(<target> <function> <file>…)
#
# defines `std::span<const lockstep::EmbeddedFile> lockstep::<function>()` (declared in
# replicator/embedded_file.h's terms by whoever needs it), the files in the order given.
function(lockstep_embed target function_name)
  set(out "${CMAKE_CURRENT_BINARY_DIR}/embedded/${function_name}.cc")
  list(JOIN ARGN "|" files)
  add_custom_command(
    OUTPUT "${out}"
    COMMAND "${CMAKE_COMMAND}" "-DOUT=${out}" "-DFUNCTION=${function_name}" "-DFILES=${files}"
            -P "${PROJECT_SOURCE_DIR}/cmake/write_embedded.cmake"
    DEPENDS ${ARGN} "${PROJECT_SOURCE_DIR}/cmake/write_embedded.cmake"
    VERBATIM)
  target_sources(${target} PRIVATE "${out}")
endfunction()
