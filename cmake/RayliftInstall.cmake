# SPDX-License-Identifier: Apache-2.0
# What is installed, and as part of which component:
#   library      what a program linked with raylift needs when it runs: shared libraries, raylift-import
#   programs     the programs, with manual pages and completions
#   viewer       raylift-view, apart from them as it needs a display's libraries
#   development  headers, archives, CMake and pkg-config files
#   mpi          what the program raylift loads under mpirun
#   occt         what combines solids of GDML, loaded by raylift-import and by programs that import themselves
#   step         what reads STEP, likewise
#   bundle       other projects' libraries that the programs need: in the .tar.gz alone
# Every function does nothing where RAYLIFT_INSTALL is off.

include(CMakePackageConfigHelpers)

set(raylift_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/raylift)
set(raylift_bundle_dir ${CMAKE_INSTALL_LIBDIR}/raylift)

# raylift_install_library(<name> ...): the component <name> of the package, its headers, and all that whoever links it
# has to find. The first of each pair below is for everybody, the second only for static archives, which do not carry
# what they need in themselves.
# A library of headers alone has no file to be linked.
#   STANDARD number                 of C++; 20 otherwise
#   USES name...                    other components
#   FIND | FIND_STATIC line...      lines of CMake
#   PC | PC_STATIC module...        pkg-config modules
#   PC_LIBS_STATIC flag...          link flags of what has no module
#   DEB | DEB_STATIC package...     Debian packages
function(raylift_install_library name)
  if(NOT RAYLIFT_INSTALL)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "STANDARD"
    "USES;FIND;FIND_STATIC;PC;PC_STATIC;PC_LIBS_STATIC;DEB;DEB_STATIC")
  set(target raylift_${name})
  get_target_property(type ${target} TYPE)
  set(bundled)
  if(type STREQUAL "SHARED_LIBRARY")
    set(bundled RUNTIME_DEPENDENCY_SET raylift-bundle)
    # Symbols carry the soname as their version, so that two versions of raylift in one process don't clash.
    target_link_options(${target} PRIVATE LINKER:--disable-new-dtags LINKER:--default-symver)  # the former as of programs, below
    set_property(GLOBAL APPEND PROPERTY RAYLIFT_SHARED_DIRS ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  set(link -lraylift_${name})
  if(type STREQUAL "INTERFACE_LIBRARY")
    set(link)
  else()
    file(RELATIVE_PATH to_bundle "/${CMAKE_INSTALL_LIBDIR}" "/${raylift_bundle_dir}")
    set_target_properties(${target} PROPERTIES
      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
      INSTALL_RPATH "$ORIGIN;$ORIGIN/${to_bundle}")
  endif()
  if(NOT arg_STANDARD)
    set(arg_STANDARD 20)
  endif()
  install(TARGETS ${target} EXPORT raylift-${name} ${bundled}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  install(DIRECTORY include/raylift/${name} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/raylift COMPONENT development)
  install(EXPORT raylift-${name} NAMESPACE raylift:: FILE raylift-${name}-targets.cmake
    DESTINATION ${raylift_cmake_dir} COMPONENT development)

  if(type STREQUAL "STATIC_LIBRARY")
    list(APPEND arg_FIND ${arg_FIND_STATIC})
    list(APPEND arg_PC ${arg_PC_STATIC})
    list(APPEND arg_DEB ${arg_DEB_STATIC})
    set(extra_libs ${arg_PC_LIBS_STATIC})
  endif()

  # CMake's side.
  list(JOIN arg_FIND "\n" finds)
  file(CONFIGURE OUTPUT raylift-${name}-dependencies.cmake @ONLY CONTENT
"# What raylift::${name} needs from elsewhere.
set(raylift_${name}_USES @arg_USES@)
@finds@
")
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/raylift-${name}-dependencies.cmake
    DESTINATION ${raylift_cmake_dir} COMPONENT development)

  # The file for pkg-config. Its prefix is relative to the file's own folder, so that an installed tree can be moved.
  list(TRANSFORM arg_USES PREPEND raylift- OUTPUT_VARIABLE pc_uses)
  list(TRANSFORM pc_uses APPEND " = ${PROJECT_VERSION}")
  list(APPEND pc_uses ${arg_PC})
  list(JOIN pc_uses ", " requires)
  list(JOIN extra_libs " " extra_libs)
  file(RELATIVE_PATH to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")
  file(CONFIGURE OUTPUT raylift-${name}.pc @ONLY CONTENT
"prefix=\${pcfiledir}/@to_prefix@
libdir=\${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=\${prefix}/@CMAKE_INSTALL_INCLUDEDIR@

Name: raylift-${name}
Description: @PROJECT_DESCRIPTION@ (${name}); compile as C++@arg_STANDARD@
Version: @PROJECT_VERSION@
Requires: @requires@
Libs: -L\${libdir} @link@ @extra_libs@
Cflags: -I\${includedir}
")
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/raylift-${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

  set_property(GLOBAL APPEND PROPERTY RAYLIFT_COMPONENTS ${name})
  set_property(GLOBAL APPEND PROPERTY RAYLIFT_DEB_DEVELOPMENT ${arg_DEB})
endfunction()

# raylift_install_program(<target> [HEADLESS] [PRIVATE]): a program, which finds the bundle's libraries beside itself.
# HEADLESS: of the component programs; the C++ run-time libraries may come out of the bundle too. A program that opens a
# display, of the component viewer, takes the system's, as its OpenGL driver does. PRIVATE: not for the command line; goes to libexec/raylift with the library.
function(raylift_install_program target)
  if(NOT RAYLIFT_INSTALL)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "HEADLESS;PRIVATE" "" "")
  set(folder ${CMAKE_INSTALL_BINDIR})
  set(component viewer)
  if(arg_HEADLESS)
    set(component programs)
  endif()
  if(arg_PRIVATE)
    set(folder ${CMAKE_INSTALL_LIBEXECDIR}/raylift)
    set(component library)
  endif()
  file(RELATIVE_PATH to_lib "/${folder}" "/${CMAKE_INSTALL_LIBDIR}")
  file(RELATIVE_PATH to_bundle "/${folder}" "/${raylift_bundle_dir}")
  set(rpath "$ORIGIN/${to_bundle}")
  if(arg_HEADLESS)
    list(APPEND rpath "$ORIGIN/${to_bundle}/c++")
  endif()
  if(BUILD_SHARED_LIBS)
    list(PREPEND rpath "$ORIGIN/${to_lib}")
  endif()
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${rpath}" RAYLIFT_COMPONENT ${component})
  # DT_RPATH, unlike DT_RUNPATH, also holds for what the bundled libraries need in their turn.
  target_link_options(${target} PRIVATE LINKER:--disable-new-dtags)
  install(TARGETS ${target} RUNTIME_DEPENDENCY_SET raylift-bundle
    RUNTIME DESTINATION ${folder} COMPONENT ${component})
endfunction()

# raylift_install_module(<target> <component>): what a program loads from libexec/raylift, and the bundle's libraries with it.
function(raylift_install_module target component)
  if(NOT RAYLIFT_INSTALL)
    return()
  endif()
  set(folder ${CMAKE_INSTALL_LIBEXECDIR}/raylift)
  file(RELATIVE_PATH to_bundle "/${folder}" "/${raylift_bundle_dir}")
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${to_bundle};$ORIGIN/${to_bundle}/c++")
  target_link_options(${target} PRIVATE LINKER:--disable-new-dtags)
  install(TARGETS ${target} RUNTIME_DEPENDENCY_SET raylift-bundle LIBRARY DESTINATION ${folder} COMPONENT ${component})
endfunction()

# raylift_install_description(<program> <see also>...): the manual page, by help2man, and the completions that the
# program prints itself.
find_program(RAYLIFT_HELP2MAN help2man)
mark_as_advanced(RAYLIFT_HELP2MAN)
function(raylift_install_description program)
  if(NOT RAYLIFT_INSTALL OR CMAKE_CROSSCOMPILING)
    return()
  endif()
  set(zsh_dir ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    set(zsh_dir ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)  # where Debian looks
  endif()
  get_target_property(component ${program} RAYLIFT_COMPONENT)
  set(files)
  function(described file folder)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/description/${file})
    add_custom_command(OUTPUT ${file}
      COMMAND ${CMAKE_COMMAND} -E env HOME=${CMAKE_CURRENT_BINARY_DIR} --unset=XDG_CONFIG_HOME --unset=XDG_CACHE_HOME
        ${ARGN} > ${file}
      DEPENDS ${program} ${PROJECT_SOURCE_DIR}/cmake/manual.sh VERBATIM)
    install(FILES ${file} DESTINATION ${folder} COMPONENT ${component})
    set(files ${files} ${file} PARENT_SCOPE)
  endfunction()
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/description)
  if(RAYLIFT_HELP2MAN)
    list(JOIN ARGN ", " see_also)
    described(${program}.1 ${CMAKE_INSTALL_MANDIR}/man1
      ${PROJECT_SOURCE_DIR}/cmake/manual.sh $<TARGET_FILE:${program}> ${PROJECT_VERSION} ${see_also})
  else()
    message(STATUS "raylift: manual page of ${program} OFF (needs help2man)")
  endif()
  described(${program} ${CMAKE_INSTALL_DATADIR}/bash-completion/completions $<TARGET_FILE:${program}> --generate bash)
  described(_${program} ${zsh_dir} $<TARGET_FILE:${program}> --generate zsh)
  described(${program}.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
    $<TARGET_FILE:${program}> --generate fish)
  add_custom_target(describe-${program} ALL DEPENDS ${files})
endfunction()

# raylift_install_package(): the files that speak for all components; called once, after them.
function(raylift_install_package)
  if(NOT RAYLIFT_INSTALL)
    return()
  endif()
  get_property(components GLOBAL PROPERTY RAYLIFT_COMPONENTS)
  set(architectures)
  if(RAYLIFT_HAS_CUDA)
    set(architectures ${CMAKE_CUDA_ARCHITECTURES})
  endif()
  configure_package_config_file(cmake/raylift-config.cmake.in raylift-config.cmake
    INSTALL_DESTINATION ${raylift_cmake_dir} PATH_VARS CMAKE_INSTALL_LIBEXECDIR CMAKE_INSTALL_DATADIR)
  # Before 1.0, a new minor version may break what uses the old one.
  write_basic_package_version_file(raylift-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/raylift-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/raylift-config-version.cmake
    DESTINATION ${raylift_cmake_dir} COMPONENT development)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libraylift${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} RENAME copyright COMPONENT library)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/raylift RENAME copyright COMPONENT programs)
  # DejaVu Sans is a part of the viewer's program.
  if(RAYLIFT_FONT AND EXISTS /usr/share/doc/fonts-dejavu-core/copyright)
    install(FILES /usr/share/doc/fonts-dejavu-core/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/raylift-view
      RENAME copyright.dejavu COMPONENT viewer)
  endif()
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libraylift-dev RENAME copyright COMPONENT development)
  # Something to try the programs with, and something to start from.
  install(FILES data/cube.dae data/detector.dae data/detector.gdml DESTINATION ${CMAKE_INSTALL_DATADIR}/raylift COMPONENT programs)
  install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/raylift COMPONENT development
    REGEX "examples/CMakeLists.txt$" EXCLUDE)  # of this tree
  install(DIRECTORY python/examples/ DESTINATION ${CMAKE_INSTALL_DATADIR}/raylift/examples/python COMPONENT development)
  # The pages, for who reads them without this tree.
  install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/raylift COMPONENT development)
  install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/raylift COMPONENT development
    REGEX "/(CMakeLists.txt|Doxyfile.in|releasing.md)$" EXCLUDE)

  # Never bundled: the C library, which must be the node's, and all that belongs to its display driver or its GPU's.
  set(system "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv|util|anl|nsl|mvec)\\.so"
    "^lib(GL|EGL|GLX|OpenGL|GLdispatch|GLESv2|gbm|drm|cuda)\\.so" "^lib(nvidia|X|xcb|wayland|xkbcommon)")
  set(cxx "^lib(stdc\\+\\+|gcc_s)\\.so")
  install(RUNTIME_DEPENDENCY_SET raylift-bundle PRE_EXCLUDE_REGEXES ${system} ${cxx} POST_EXCLUDE_REGEXES "raylift_"
    LIBRARY DESTINATION ${raylift_bundle_dir} COMPONENT bundle EXCLUDE_FROM_ALL)
  install(RUNTIME_DEPENDENCY_SET raylift-bundle PRE_EXCLUDE_REGEXES ${system} 
    POST_INCLUDE_REGEXES "/lib(stdc\\+\\+|gcc_s)\\.so" POST_EXCLUDE_REGEXES ".*" LIBRARY DESTINATION ${raylift_bundle_dir}/c++ COMPONENT bundle EXCLUDE_FROM_ALL)
  install(CODE "set(RAYLIFT_BUNDLE_DIR ${raylift_bundle_dir})\nset(RAYLIFT_DOC_DIR ${CMAKE_INSTALL_DATADIR}/doc/raylift)"
    COMPONENT bundle EXCLUDE_FROM_ALL)
  install(SCRIPT cmake/bundle_licences.cmake COMPONENT bundle EXCLUDE_FROM_ALL)
endfunction()
