# The C++ library of lock mode, for `cmake --install BUILD --component library`: static libraries, their headers, a CMake package
# and a pkg-config file. docs/locks.md, "For C++", says how to use it; examples/cpp does.
#
# REQUIRES: the targets of replicator/.
include(CMakePackageConfigHelpers)

set(folders log config elasticsearch locks tree)
set(libraries lockstep_tree lockstep_locks lockstep_elasticsearch lockstep_source lockstep_config lockstep_log lockstep_base)
if(LOCKSTEP_PRECOMPILE)
  list(APPEND libraries lockstep_headers)
endif()
foreach(library IN LISTS libraries)
  string(REPLACE "lockstep_" "" name ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})  # lockstep::tree
endforeach()
# Where compilers and pkg-config of Debian look below every prefix; the prefix is known no sooner than at the installation.
set(folder_of_libraries "${CMAKE_INSTALL_LIBDIR}")
if(CMAKE_LIBRARY_ARCHITECTURE AND folder_of_libraries STREQUAL "lib")
  set(folder_of_libraries "lib/${CMAKE_LIBRARY_ARCHITECTURE}")
endif()
set(package "${folder_of_libraries}/cmake/lockstep")
set(headers "${CMAKE_INSTALL_INCLUDEDIR}/lockstep/replicator")

install(TARGETS ${libraries} EXPORT lockstep ARCHIVE DESTINATION "${folder_of_libraries}" COMPONENT library EXCLUDE_FROM_ALL)
install(EXPORT lockstep NAMESPACE lockstep:: FILE lockstep-targets.cmake DESTINATION "${package}" COMPONENT library EXCLUDE_FROM_ALL)

file(GLOB base_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/replicator/*.h")
install(FILES ${base_headers} DESTINATION "${headers}" COMPONENT library EXCLUDE_FROM_ALL)
foreach(folder IN LISTS folders)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/replicator/${folder}" DESTINATION "${headers}" COMPONENT library EXCLUDE_FROM_ALL
          FILES_MATCHING PATTERN "*.h" PATTERN "backends/postgres" EXCLUDE PATTERN "scripts" EXCLUDE)
endforeach()

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/lockstep-config.cmake.in" "${PROJECT_BINARY_DIR}/lockstep-config.cmake"
                              INSTALL_DESTINATION "${package}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/lockstep-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/lockstep-config.cmake" "${PROJECT_BINARY_DIR}/lockstep-config-version.cmake"
        DESTINATION "${package}" COMPONENT library EXCLUDE_FROM_ALL)

# Found from where the file is.
file(RELATIVE_PATH include_from_pkgconfig "/${folder_of_libraries}/pkgconfig" "/${CMAKE_INSTALL_INCLUDEDIR}/lockstep")
list(TRANSFORM libraries PREPEND "-l" OUTPUT_VARIABLE link_libraries)
list(JOIN link_libraries " " link_libraries)
configure_file("${CMAKE_CURRENT_LIST_DIR}/lockstep.pc.in" "${PROJECT_BINARY_DIR}/lockstep.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/lockstep.pc" DESTINATION "${folder_of_libraries}/pkgconfig" COMPONENT library EXCLUDE_FROM_ALL)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples/cpp" DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples" COMPONENT library EXCLUDE_FROM_ALL)
