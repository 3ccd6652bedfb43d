# SPDX-License-Identifier: Apache-2.0
"""Writes a .cu source with the code of docs/kernels.md: kernels_page.py PAGE SOURCE. What is compiled is what is shown."""
import pathlib
import re
import sys

page = pathlib.Path(sys.argv[1]).read_text()
blocks = re.findall(r"^```cpp\n(.*?)^```", page, re.M | re.S)
kernel, host, each, entries, later, arrays = blocks
table = page[page.index("| to find | write |"):]
expressions = re.findall(r"^\| [^|]*\| `([^`]+)`", table[:table.index("\n\n")], re.M)
assert len(expressions) >= 11 and "upload(scene" in host and "from_inside" in entries
assert "upload_async" in later and "array_source" in arrays

body = "".join(f"  (void)({expression});\n" for expression in expressions)
pathlib.Path(sys.argv[2]).write_text(f"""
{kernel}
#include <raylift/gpu/device/device.h>
#include <raylift/gpu/optics.h>
#include <raylift/gpu/upload/gpu_geometry.h>

__global__ void table(raylift::GeometryView geometry, raylift::Ray ray, raylift::Hit hit, raylift::Float3 corner,
                      raylift::Double3 point, std::uint16_t material, float wavelength, std::uint32_t solid) {{
  const raylift::MaterialCode code = geometry.material_code(hit.instance, hit.triangle);
{body}
{entries}
}}

__global__ void each(raylift::GeometryView geometry, raylift::Ray ray, float* lengths) {{
  float length = 0;
{each}
  *lengths = length;
}}

void host(const raylift::Scene& scene, const raylift::Device& device, const raylift::Stream& stream, int blocks,
          const raylift::Ray* rays, std::uint32_t* solids, int n) {{
{host}
}}

void in_order(const raylift::Scene& scene, const raylift::Device& device, cudaStream_t stream, cudaStream_t other,
              int blocks, const raylift::Ray* rays, std::uint32_t* solids, int n) {{
{later}
}}

void arrays(const raylift::Scene& scene, const raylift::Device& device, raylift::UploadOptions options,
            const std::vector<float>& weights) {{
{arrays}
  (void)on_device;
}}
""")
