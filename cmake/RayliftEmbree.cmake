# SPDX-License-Identifier: Apache-2.0
# Embree: what rays on the host are compared with, in tests and benchmarks. Never in a library, never required.

# raylift_link_embree(<target>): version 4 (Ubuntu 24.04) or 3 (Debian 12), as RAYLIFT_WITH_EMBREE4 or 3.
function(raylift_link_embree target)
  foreach(version 4 3)
    find_path(EMBREE${version}_INCLUDE_DIR embree${version}/rtcore.h)
    find_library(EMBREE${version}_LIBRARY embree${version})
    mark_as_advanced(EMBREE${version}_INCLUDE_DIR EMBREE${version}_LIBRARY)
    if(EMBREE${version}_INCLUDE_DIR AND EMBREE${version}_LIBRARY)
      target_include_directories(${target} SYSTEM PRIVATE ${EMBREE${version}_INCLUDE_DIR})
      target_link_libraries(${target} PRIVATE ${EMBREE${version}_LIBRARY})
      target_compile_definitions(${target} PRIVATE RAYLIFT_WITH_EMBREE${version})
      return()
    endif()
  endforeach()
  message(STATUS "raylift: no Embree for ${target}, which will compare with nothing (Debian: libembree-dev)")
endfunction()
