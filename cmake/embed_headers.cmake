# SPDX-License-Identifier: Apache-2.0
# Runs at build time: writes a C++ source with the texts of headers, for kernels that are compiled at run time.
#   cmake -DOUTPUT=FILE -P embed_headers.cmake FOLDER HEADER... [FOLDER HEADER...]
# A FOLDER begins with '/', and holds the headers after it, which are named as they are included.
set(rows)
set(count 0)
set(folder)
math(EXPR last "${CMAKE_ARGC} - 1")
set(started OFF)
foreach(i RANGE ${last})
  set(word "${CMAKE_ARGV${i}}")
  if(NOT started)
    if(word MATCHES "embed_headers.cmake$")
      set(started ON)
    endif()
  elseif(word MATCHES "^/")
    set(folder "${word}")
  else()
    file(READ "${folder}/${word}" text)
    string(APPEND rows "    {\"${word}\", R\"header_(${text})header_\"},\n")
    math(EXPR count "${count} + 1")
  endif()
endforeach()
file(WRITE "${OUTPUT}" "// Written by cmake/embed_headers.cmake.
#include \"compile.h\"

namespace raylift::detail {

const BuiltInHeader kBuiltInHeaders[] = {
${rows}};
const std::size_t kBuiltInHeaderCount = ${count};

}  // namespace raylift::detail
")
