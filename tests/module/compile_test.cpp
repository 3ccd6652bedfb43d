// SPDX-License-Identifier: Apache-2.0
// Kernels that are compiled at run time, as far as no device is needed: compiling, errors, headers, the pages' code.
#include <gmock/gmock.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/rays/query.h>

#include <iterator>
#include <regex>

#include "compile.h"
#include "support/paths.h"

namespace raylift {
namespace {

namespace fs = std::filesystem;
using detail::Compiled;
using detail::Kernel;
using detail::Nvrtc;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr int kHopper = 90;

class Kernels : public testing::Test {
 protected:
  void SetUp() override {
    try {
      (void)Nvrtc::get();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    options_.cache = false;
  }
  [[nodiscard]] Compiled compile(std::string_view source, const std::vector<std::string>& words = {}) {
    options_.compiler = words;
    return detail::compile(Nvrtc::get(), source, kHopper, options_);
  }
  [[nodiscard]] Error failure(std::string_view source, const std::vector<std::string>& words = {}) {
    try {
      (void)compile(source, words);
    } catch (const Error& error) {
      return error;
    }
    return {ErrorKind::cancelled, "it was compiled"};
  }
  ModuleOptions options_;
};

TEST_F(Kernels, AreFoundWithTheirParameters) {
  const Compiled compiled = compile(R"(
    struct Five { float x[5]; };
    namespace my { __global__ void scale(float* p, Five five, char c, double d, const unsigned long* q, short s) {
      p[0] = five.x[1] + c + d + q[0] + s;
    } }
    template <class T> __global__ void add(T* p, T a) { p[threadIdx.x] += a; }
    template __global__ void add<float>(float*, float);
    extern "C" __global__ void plain() {}
  )");
  std::vector<Kernel> kernels = compiled.kernels;
  ASSERT_THAT(kernels, SizeIs(3));
  std::sort(kernels.begin(), kernels.end(), [](const Kernel& a, const Kernel& b) { return a.name < b.name; });
  EXPECT_EQ(kernels[0].name, "add<float>");
  EXPECT_THAT(kernels[0].parameters, ElementsAre(8, 4));
  EXPECT_EQ(kernels[1].name, "my::scale");
  EXPECT_THAT(kernels[1].parameters, ElementsAre(8, 20, 1, 8, 8, 2));
  EXPECT_EQ(kernels[2].name, "plain");
  EXPECT_EQ(kernels[2].symbol, "plain");
  EXPECT_THAT(kernels[2].parameters, SizeIs(0));
  EXPECT_EQ(compiled.image.substr(0, 4),
            "\x7F"
            "ELF");
}

TEST_F(Kernels, AViewIsOfTheHostsSize) {
  const Compiled compiled = compile(R"(
    #include <raylift/gpu/rays/query.h>
    __global__ void k(raylift::GeometryView view, raylift::Ray ray, raylift::Hit* hit) { *hit = closest_hit(view, ray); }
  )");
  ASSERT_THAT(compiled.kernels, SizeIs(1));
  EXPECT_THAT(compiled.kernels[0].parameters, ElementsAre(sizeof(GeometryView), sizeof(Ray), 8));
}

TEST_F(Kernels, EachHeaderCompilesByItself) {
  for (std::size_t i = 0; i != detail::kBuiltInHeaderCount; ++i) {
    const std::string name = detail::kBuiltInHeaders[i].name;
    if (name.find("/detail/") != std::string::npos) continue;
    EXPECT_NO_THROW((void)compile("#include <" + name + ">\n#include <" + name + ">\n")) << name;
  }
}

TEST_F(Kernels, HeadersAreThoseOfTheTree) {
  EXPECT_GT(detail::kBuiltInHeaderCount, 30U);
  for (std::size_t i = 0; i != detail::kBuiltInHeaderCount; ++i) {
    const std::string name = detail::kBuiltInHeaders[i].name;
    const std::string library = name.substr(8, name.find('/', 8) - 8);
    EXPECT_TRUE(detail::kBuiltInHeaders[i].text == test::bytes_in(test::source_dir() / library / "include" / name))
        << name;
  }
}

TEST_F(Kernels, CudasTypesAndRaylifts) {
  EXPECT_NO_THROW((void)compile(R"(
    #include <raylift/gpu/rays/query.h>
    using namespace raylift;
    __device__ float3 operator*(float s, float3 v) { return make_float3(s * v.x, s * v.y, s * v.z); }
    __device__ float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
    __global__ void k(GeometryView view, Ray ray, float3* out, uint3 t) {
      const float3 n = closest_hit(view, ray).normal;
      const Float3 own = ray.origin + 2 * ray.direction;
      out[0] = n + 2 * n;
      out[1] = own;
      out[2] = Float3(n) + own;
      out[3].x = dot(own, Float3(n)) + UInt3(t).x;
    }
  )"));
}

TEST_F(Kernels, AnErrorHasItsLine) {
  options_.name = "response.cu";
  const Error error = failure("__global__ void k(float* p) {\n  *p = 1;\n  *p = missing;\n}\n");
  EXPECT_EQ(error.kind(), ErrorKind::malformed);
  EXPECT_EQ(error.file(), "response.cu");
  EXPECT_EQ(error.element(), "line 3");
  EXPECT_THAT(error.what(), HasSubstr("\"missing\" is undefined"));
  const Error header = failure("#include <nowhere.h>\n");
  EXPECT_EQ(header.kind(), ErrorKind::malformed);
  EXPECT_EQ(header.element(), "line 1");
}

TEST_F(Kernels, AnUnknownOptionIsNamed) {
  const Error error = failure("", {"--no-such-option"});
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_THAT(error.what(), HasSubstr("no-such-option"));
}

TEST_F(Kernels, FastMathIsRefused) {
  for (const char* option : {"--use_fast_math", "--ftz=true", "--prec-div=false", "--prec-sqrt=false"})
    EXPECT_THAT(failure("#include <raylift/gpu/view.h>\n", {option}).what(), HasSubstr("need IEEE rounding")) << option;
  EXPECT_THAT(failure("#include <raylift/gpu/view.h>\n", {"--std=c++17"}).kind(),
              testing::AnyOf(ErrorKind::malformed, ErrorKind::usage));
}

TEST_F(Kernels, AnUnknownDeviceGetsPtx) {
  const int newest = Nvrtc::get().supported.back();
  const Compiled compiled = detail::compile(Nvrtc::get(), "__global__ void k(int) {}", newest + 5, options_);
  EXPECT_THAT(compiled.image, HasSubstr(".target sm_" + std::to_string(newest)));
  EXPECT_THROW((void)detail::compile(Nvrtc::get(), "", 10, options_), Error);
}

TEST(Nvrtc, IsNamedWhereItIsMissing) {
  try {
    (void)Nvrtc::load({"/nowhere/libnvrtc.so"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_THAT(error.what(), HasSubstr("/nowhere/libnvrtc.so"));
    EXPECT_THAT(error.what(), HasSubstr("cuda-nvrtc"));
  }
  EXPECT_THROW((void)Nvrtc::load({"libc.so.6"}), Error);
}

TEST(KernelArguments, AreCounted) {
  const Kernel kernel{"scale", "scale", {8, 4}};
  const auto message = [&](std::vector<std::size_t> bytes) -> std::string {
    try {
      detail::check_arguments(kernel, bytes);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({8, 4}), "");
  EXPECT_THAT(message({8}), HasSubstr("'scale' takes 2 arguments, and was given 1"));
  EXPECT_THAT(message({8, 8}), HasSubstr("argument 2 of the kernel 'scale' has 4 bytes, and was given 8"));
}

TEST(KernelArguments, OfTheHostsArrays) {
  std::vector<float> values(5);
  const std::vector<float> constant(3);
  EXPECT_EQ(In(constant).array().bytes, 12U);
  EXPECT_EQ(In(constant).array().to, nullptr);
  EXPECT_EQ(Out(values).array().from, nullptr);
  EXPECT_EQ(Out(values).array().to, values.data());
  EXPECT_EQ(InOut(std::span(values).first(2)).array().bytes, 8U);
  EXPECT_EQ(InOut(values).array().from, values.data());
  static_assert(!std::is_constructible_v<Out, const std::vector<float>&>);
}

TEST(Module, NeedsACudaDevice) {
  try {
    (void)Module::compile(Device::host(1 << 20), "");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_THAT(error.what(), HasSubstr("host device"));
  }
}

/// The page's device code: its first block, the right column of its table, its loop over hits, and its filter.
TEST_F(Kernels, OfThePageCompile) {
  const std::string page = test::bytes_in(test::source_dir() / "docs" / "kernels.md");
  std::vector<std::string> blocks;
  const std::string fence = "```cpp\n";
  for (std::size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at + 1))
    blocks.push_back(page.substr(at + fence.size(), page.find("```", at + fence.size()) - at - fence.size()));
  ASSERT_THAT(blocks, SizeIs(testing::Ge(5)));
  ASSERT_THAT(blocks[2], HasSubstr("for_each_hit"));
  ASSERT_THAT(blocks[3], HasSubstr("bool from_inside"));
  const std::size_t table = page.find("| to find | write |");
  std::string rows = page.substr(table, page.find("\n\n", table) - table);
  std::string statements;
  int count = 0;
  const std::regex row(R"(\n\| [^|\n]*\| `([^`\n]+)`)");
  for (std::sregex_iterator found(rows.begin(), rows.end(), row), end; found != end; ++found, ++count)
    statements += "  (void)(" + (*found)[1].str() + ");\n";
  EXPECT_GE(count, 11);
  const std::string source = blocks[0] + R"(
    #include <raylift/gpu/optics.h>
    __global__ void table(raylift::GeometryView geometry, raylift::Ray ray, raylift::Hit hit, raylift::Float3 corner,
                          raylift::Double3 point, std::uint16_t material, float wavelength, std::uint32_t solid) {
      const raylift::MaterialCode code = geometry.material_code(hit.instance, hit.triangle);
)" + statements + "  float length = 0;\n" +
                             blocks[2] + blocks[3] + "}\n";
  EXPECT_NO_THROW((void)compile(source)) << source;
}

}  // namespace
}  // namespace raylift
