# SPDX-License-Identifier: Apache-2.0
# Runs while the bundle is installed, with RAYLIFT_BUNDLE_DIR and RAYLIFT_DOC_DIR: adds the licence of each bundled
# library's Debian package.
find_program(DPKG_QUERY dpkg-query)
file(GLOB_RECURSE libraries "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${RAYLIFT_BUNDLE_DIR}/*.so*")
if(NOT DPKG_QUERY)
  message(STATUS "raylift: no dpkg-query: add the bundled libraries' licences by hand")
  return()
endif()
set(packages)
foreach(library IN LISTS libraries)
  get_filename_component(name ${library} NAME)
  execute_process(COMMAND ${DPKG_QUERY} --search "*-linux-gnu/${name}" OUTPUT_VARIABLE owner ERROR_QUIET)
  if(owner MATCHES "^([^:,]+)")
    list(APPEND packages ${CMAKE_MATCH_1})
  endif()
endforeach()
list(REMOVE_DUPLICATES packages)
foreach(package IN LISTS packages)
  file(INSTALL "/usr/share/doc/${package}/copyright" FOLLOW_SYMLINK_CHAIN
    DESTINATION "${CMAKE_INSTALL_PREFIX}/${RAYLIFT_DOC_DIR}/bundled/${package}")
endforeach()
