# Compiles files of one folder together, which reads what they all include once: CMake's unity build. The presets with sanitizers do,
# since a change of a header makes them compile everything. For that a name in an anonymous namespace is unique in its folder:
# tests/rules/joined_files_test.py finds most that are not, the compiler all.
#
#   lockstep_join(<target>)  so many of its sources at a time; generated sources alone
set(LOCKSTEP_JOIN 1 CACHE STRING "How many files of a folder to compile together")

function(lockstep_join target)
  if(LOCKSTEP_JOIN LESS 2)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  target_compile_options(${target} PRIVATE -Wno-shadow)  # a local name may be one of another file; the other builds warn
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(folder "${source}" DIRECTORY)
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(NOT DEFINED count_${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR group "${count_${folder}} / ${LOCKSTEP_JOIN}")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}_${group}")
  endforeach()
endfunction()
