# SPDX-License-Identifier: Apache-2.0
# What cpack makes of an installation: a .deb for each of library, programs and development, and one .tar.gz that can be
# unpacked anywhere and carries the libraries that a bare machine lacks. Use the preset `package`.

set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_PACKAGE_VENDOR "raylift")
set(CPACK_PACKAGE_CONTACT "The raylift developers <raylift@example.org>")
set(CPACK_PACKAGE_FILE_NAME "raylift-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_COMPONENTS_ALL library programs development)
if(TARGET raylift-view)
  list(APPEND CPACK_COMPONENTS_ALL viewer)
endif()
if(TARGET raylift-occt)
  list(APPEND CPACK_COMPONENTS_ALL occt)
endif()
if(TARGET raylift-step)
  list(APPEND CPACK_COMPONENTS_ALL step)
endif()
set(raylift_archive ${CPACK_COMPONENTS_ALL} bundle)
if(TARGET raylift-mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)  # not in the .tar.gz: it needs this machine's MPI
endif()
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_BINARY_DIR}/RayliftPackagesPerGenerator.cmake)
file(CONFIGURE OUTPUT RayliftPackagesPerGenerator.cmake @ONLY CONTENT [=[
if(CPACK_GENERATOR STREQUAL "TGZ")
  set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
  set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
  set(CPACK_COMPONENTS_ALL @raylift_archive@)
else()
  # Where the library looks for raylift-import.
  set(CPACK_PACKAGING_INSTALL_PREFIX "@CMAKE_INSTALL_PREFIX@")
endif()
]=])

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
find_program(RAYLIFT_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(RAYLIFT_SHLIBDEPS)
if(RAYLIFT_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  get_property(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS GLOBAL PROPERTY RAYLIFT_SHARED_DIRS)
endif()
get_property(raylift_deb_development GLOBAL PROPERTY RAYLIFT_DEB_DEVELOPMENT)
list(REMOVE_DUPLICATES raylift_deb_development)
list(JOIN raylift_deb_development ", " raylift_deb_development)
# Named after the shared libraries' SOVERSION.
set(raylift_library_package libraylift${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(raylift_same_version "${raylift_library_package} (= ${PROJECT_VERSION})")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${raylift_library_package})
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "${PROJECT_DESCRIPTION}: run-time part
 What programs linked with raylift need to run.")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME raylift)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_DEPENDS "${raylift_same_version}")
set(CPACK_COMPONENT_PROGRAMS_DESCRIPTION "${PROJECT_DESCRIPTION}: programs
 Looks into scenes, checks them, and uploads them to a GPU.")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_RECOMMENDS "raylift-occt, raylift-step")
set(CPACK_DEBIAN_OCCT_PACKAGE_NAME raylift-occt)
set(CPACK_DEBIAN_OCCT_PACKAGE_DEPENDS "${raylift_same_version}")
set(CPACK_COMPONENT_OCCT_DESCRIPTION "${PROJECT_DESCRIPTION}: booleans of GDML
 Combines solids by Open CASCADE, where a detector has unions, subtractions or intersections.")
set(CPACK_DEBIAN_STEP_PACKAGE_NAME raylift-step)
set(CPACK_DEBIAN_STEP_PACKAGE_DEPENDS "${raylift_same_version}")
set(CPACK_COMPONENT_STEP_DESCRIPTION "${PROJECT_DESCRIPTION}: STEP
 Reads the files of CAD programs by Open CASCADE.")
set(CPACK_DEBIAN_VIEWER_PACKAGE_NAME raylift-view)
set(CPACK_DEBIAN_VIEWER_PACKAGE_DEPENDS "raylift (= ${PROJECT_VERSION})")
# The panels' letters, without which they are ImGui's own, which are Latin; and icons, without which there are words.
set(CPACK_DEBIAN_VIEWER_PACKAGE_RECOMMENDS "fonts-dejavu-core, fonts-droid-fallback, fonts-font-awesome")
set(CPACK_COMPONENT_VIEWER_DESCRIPTION "${PROJECT_DESCRIPTION}: viewer
 Shows scenes in a window, or draws them into files.")
set(CPACK_DEBIAN_MPI_PACKAGE_NAME raylift-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "raylift (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_MPI_DESCRIPTION "${PROJECT_DESCRIPTION}: batches under mpirun
 What the program raylift loads when it runs as one of several.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libraylift-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${raylift_same_version}, ${raylift_deb_development}")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "${PROJECT_DESCRIPTION}: development files
 Headers, libraries, CMake and pkg-config files.")
include(CPack)
