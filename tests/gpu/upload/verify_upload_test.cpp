// SPDX-License-Identifier: Apache-2.0
// The comparison of an upload with its scene, on each device: it finds one changed byte in any array.
#include <gtest/gtest.h>
#include <raylift/geometry/error.h>

#include <array>

#include "gpu/src/upload/verify_upload.h"
#include "support/devices.h"
#include "support/random_scenes.h"

namespace raylift {
namespace {

class VerifyUpload : public test::OnDevice {};
RAYLIFT_ON_BOTH_DEVICES(VerifyUpload);

/// Changes the last byte of an array.
void change(Memory& memory, const Device& device) {
  const Stream stream(device);
  std::array<std::byte, 1> byte{};
  memory.copy_to(byte, stream, memory.bytes() - 1);
  stream.synchronize();
  byte[0] ^= std::byte{1};
  memory.copy_from(byte, stream, memory.bytes() - 1);
  stream.synchronize();
}

TEST_P(VerifyUpload, FindsOneChangedByteInAnyArray) {
  const Scene scene = test::random_scene(8, 2, 50);
  for (const bool flat : {false, true}) {
    UploadOptions options;
    options.flatten = flat;
    options.raster = {300, 20, 11};
    options.origin = Double3{1, 2, 3};
    GpuGeometry geometry = upload(scene, device(), options);
    std::uint64_t bytes = 0;
    for (const ResidencyReport::Array& row : geometry.report().arrays) {
      if (find_view_array(row.name)->presence == ViewArrayInfo::Presence::bvh) continue;
      bytes += row.bytes;
      if (row.bytes == 0) continue;
      change(geometry.array(row.name), device());
      try {
        (void)verify_upload(scene, geometry);
        ADD_FAILURE() << row.name << " was changed, and nothing was found";
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::device);
        EXPECT_EQ(error.element(), "array '" + row.name + "'");
        EXPECT_EQ(error.problem(), "what lies on the device is not what was uploaded: element " +
                                       std::to_string(row.bytes / find_view_array(row.name)->element_bytes - 1) +
                                       " differs");
      }
      change(geometry.array(row.name), device());
    }
    EXPECT_EQ(verify_upload(scene, geometry), bytes);
  }
}

}  // namespace
}  // namespace raylift
