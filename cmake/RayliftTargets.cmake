# SPDX-License-Identifier: Apache-2.0
# How every target of raylift is compiled, in one place.

include(GNUInstallDirs)

# Settings that stay inside the build: warnings, sanitizers, and where the headers of base/ are ("base/json.h").
add_library(raylift_build_settings INTERFACE)
target_include_directories(raylift_build_settings INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(raylift_build_settings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Wno-sign-conversion;-Wnon-virtual-dtor;-Woverloaded-virtual>
  $<$<COMPILE_LANGUAGE:CUDA>:-Wall;-Wextra;-Xcompiler=-Wall;-Xcompiler=-Wextra>)
# GCC 12 warns of overlaps inside its own std::string (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(raylift_build_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
# In a unity build GCC takes each source for a header, where an anonymous namespace would be a mistake. Its garbage
# collection costs a tenth of the time there, and saves 100 of 800 MB: below 400 MB of heap it need not collect.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(raylift_build_settings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage;--param=ggc-min-heapsize=400000>)
endif()
# And Clang takes constants of the source before for shadowed ones.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(raylift_build_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-shadow>)
endif()
if(RAYLIFT_WARNINGS_AS_ERRORS)
  target_compile_options(raylift_build_settings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()
if(RAYLIFT_SANITIZE)
  # Under sanitizers GCC takes its own std::regex and std::function for uninitialised; its manual warns of that.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(raylift_build_settings INTERFACE -Wno-maybe-uninitialized)
  endif()
  # Undefined behaviour that the address sanitizer sees too is left to it: to look for it twice takes time.
  target_compile_options(raylift_build_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:
    -fsanitize=${RAYLIFT_SANITIZE};-fno-sanitize=null,object-size,vptr;-fno-omit-frame-pointer;-fno-sanitize-recover=all>)
  target_link_options(raylift_build_settings INTERFACE -fsanitize=${RAYLIFT_SANITIZE})
  find_program(RAYLIFT_LLD ld.lld)  # five times as fast
  mark_as_advanced(RAYLIFT_LLD)
  if(RAYLIFT_LLD AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_link_options(raylift_build_settings INTERFACE -fuse-ld=lld)
  endif()
endif()

if(RAYLIFT_BUILD_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang" OR NOT RAYLIFT_BUILD_PROGRAMS)
    message(FATAL_ERROR "RAYLIFT_BUILD_FUZZ needs Clang and RAYLIFT_BUILD_PROGRAMS; use the preset asan.")
  endif()
endif()

# raylift_cover(<name>): coverage for libFuzzer, of a target that fuzz targets link. What computes is left out: it learns
# nothing of its input there, and takes twice as long. Tests are compiled without.
function(raylift_cover name)
  if(RAYLIFT_BUILD_FUZZ)
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:
      -fsanitize=fuzzer-no-link;-fsanitize-coverage-ignorelist=${PROJECT_SOURCE_DIR}/cmake/fuzz_not_covered.txt>)
  endif()
endfunction()

# raylift_library(<name> <source>...): the library raylift::<name>, whose public headers are under include/. Its sources
# include its private headers by their path from src/.
function(raylift_library name)
  add_library(raylift_${name} ${ARGN})
  add_library(raylift::${name} ALIAS raylift_${name})
  target_compile_features(raylift_${name} PUBLIC cxx_std_20)
  # The same for users' .cu files: cuda_std_20, as an option. CMake 3.25 does not know that nvcc speaks C++20, and a
  # project may enable CUDA after it has found raylift. nvcc takes the same standard twice without a word.
  target_compile_options(raylift_${name} INTERFACE $<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-std=c++20>)
  # What links an archive does not export its symbols: two libraries of one program may contain raylift. Shared
  # libraries export all of theirs, as they use each other's details.
  get_target_property(type raylift_${name} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    set_target_properties(raylift_${name} PROPERTIES
      CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  endif()
  set_target_properties(raylift_${name} PROPERTIES
    EXPORT_NAME ${name} CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON DEFINE_SYMBOL "")
  target_include_directories(raylift_${name} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
  target_link_libraries(raylift_${name} PRIVATE $<BUILD_INTERFACE:raylift_build_settings>)
  raylift_cover(raylift_${name})
endfunction()

# raylift_program(<name> <source>...): an executable, in the build tree's bin/ together with all others, so that
# programs find each other there as they do when installed.
function(raylift_program name)
  add_executable(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES
    CXX_EXTENSIONS OFF RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  target_link_libraries(${name} PRIVATE raylift_build_settings)
  if(RAYLIFT_SANITIZE MATCHES "address")
    # The tables of coverage are a million addresses, which each start would relocate: a fifth of a short run.
    target_link_options(${name} PRIVATE -no-pie)
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/sanitizer_options.cpp)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/cmake/sanitizer_options.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

# raylift_optimize_little(<name>): of what runs once for a scene, or tests it. Most of the time to compile that goes into
# optimising it, above all under sanitizers.
function(raylift_optimize_little name)
  target_compile_options(${name} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
  if(RAYLIFT_SANITIZE)
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O0>)
  endif()
endfunction()

# raylift_precompile(<name> <header>...): headers that most of a target's sources include, parsed once. That each source includes
# what it needs is left to scripts/tidy-changed. Precompiled they are no system headers any more to GCC, whose warnings of
# overflows inside its own std::string are wrong.
set(raylift_precompiled_warnings
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-array-bounds;-Wno-restrict>)
function(raylift_precompile name)
  set(headers)
  foreach(header ${ARGN})
    list(APPEND headers "$<$<COMPILE_LANGUAGE:CXX>:<${header}$<ANGLE-R>>")
  endforeach()
  target_precompile_headers(${name} PRIVATE ${headers})
  target_compile_options(${name} PRIVATE ${raylift_precompiled_warnings})
endfunction()

# raylift_precompile_as(<name> <other>): with the headers that another target has compiled. Each definition of the
# other target has to be one of this target too.
function(raylift_precompile_as name other)
  target_precompile_headers(${name} REUSE_FROM ${other})
  target_compile_options(${name} PRIVATE ${raylift_precompiled_warnings})
endfunction()

# raylift_loops(<name> <source>...): what a program has that loops over a scene, rays or photons, optimised as the libraries
# are, with their precompiled headers.
function(raylift_loops name)
  add_library(${name} OBJECT ${ARGN})
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  foreach(property CXX_VISIBILITY_PRESET VISIBILITY_INLINES_HIDDEN)
    get_target_property(value raylift_geometry ${property})
    if(value)
      set_target_properties(${name} PROPERTIES ${property} ${value})
    endif()
  endforeach()
  raylift_precompile_as(${name} raylift_geometry)
  raylift_cover(${name})
endfunction()
