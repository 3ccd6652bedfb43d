// SPDX-License-Identifier: Apache-2.0
#include "model/json_file.h"

#include <raylift/geometry/error.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/json.h"
#include "cli/output_file.h"

namespace raylift::viewer {

KeptJson read_json_file(const std::filesystem::path& file, const std::string& what) {
  std::error_code ignored;
  if (file.empty() || !std::filesystem::exists(file, ignored)) return KeptJson::object();
  std::ifstream in(file);
  if (!in) throw Error(ErrorKind::io, std::string("can't be read: ") + std::strerror(errno), {file.string(), ""});
  KeptJson json = base::parse_json<KeptJson>(std::string{std::istreambuf_iterator<char>(in), {}});
  if (!json.is_object())
    throw Error(ErrorKind::malformed, "not a file of " + what, {file.string(), ""}, "move or correct the file");
  return json;
}

void write_json_file(const std::filesystem::path& file, const KeptJson& json) {
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  cli::write_file(file, base::json_text(json, 2) + '\n');
}

}  // namespace raylift::viewer
