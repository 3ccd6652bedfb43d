// SPDX-License-Identifier: Apache-2.0
#include "scene_stream.h"

namespace raylift {

void refuse_import(const std::string& what) {
  throw Error(ErrorKind::malformed, "the import process returned an invalid scene: " + what);
}

void put_options(ByteWriter& writer, const LoadOptions& options) {
  writer.value(options.reader);
  writer.value(options.unit_mm.value_or(0));
  writer.value(options.up_axis ? static_cast<int>(*options.up_axis) : -1);
  writer.value(options.weld);
  writer.value(std::uint8_t{options.external});
  writer.value(std::uint8_t{options.repair});
  writer.value(std::uint8_t{options.drop_degenerate});
  writer.value(std::uint8_t{options.sensor_materials});
  writer.value(std::uint8_t{options.compute_rayleigh});
  writer.value(options.fineness.chord);
  writer.value(options.fineness.steps);
  writer.value(options.fineness.fit);
  writer.text(options.setup);
  writer.value(std::uint8_t{options.skip_failed_solids});
  writer.value(std::uint8_t{options.strict_optics});
  writer.value(std::uint8_t{options.rests});
  writer.value(options.limits);
}

LoadOptions get_options(ByteReader& reader) {
  LoadOptions options;
  options.reader = reader.get<LoadOptions::Reader>();
  if (const auto unit = reader.get<double>(); unit != 0) options.unit_mm = unit;
  if (const auto axis = reader.get<int>(); axis >= 0) options.up_axis = static_cast<UpAxis>(axis);
  options.weld = reader.get<LoadOptions::Weld>();
  options.external = reader.get<std::uint8_t>() != 0;
  options.repair = reader.get<std::uint8_t>() != 0;
  options.drop_degenerate = reader.get<std::uint8_t>() != 0;
  options.sensor_materials = reader.get<std::uint8_t>() != 0;
  options.compute_rayleigh = reader.get<std::uint8_t>() != 0;
  options.fineness.chord = reader.get<double>();
  options.fineness.steps = reader.get<std::uint32_t>();
  options.fineness.fit = reader.get<Fineness::Fit>();
  options.setup = reader.get_text();
  options.skip_failed_solids = reader.get<std::uint8_t>() != 0;
  options.strict_optics = reader.get<std::uint8_t>() != 0;
  options.rests = reader.get<std::uint8_t>() != 0;
  options.limits = reader.get<LoadLimits>();
  return options;
}

void put_error(ByteWriter& writer, const Error& error) {
  writer.text(to_string(error.kind()));
  for (const std::string* text : {&error.problem(), &error.file(), &error.element(), &error.advice()})
    writer.text(*text);
}

Error get_error(ByteReader& reader) {
  const std::string name_of_kind = reader.get_text();
  const ErrorKind kind = [&] {
    try {
      return error_kind(name_of_kind);
    } catch (const Error&) {
      reader.fail("an unknown kind of error");
    }
  }();
  const std::string problem = reader.get_text();
  const std::string file = reader.get_text();
  const std::string element = reader.get_text();
  return {kind, problem, {file, element}, reader.get_text()};
}

}  // namespace raylift
