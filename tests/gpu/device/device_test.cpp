// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/device/address.h>
#include <raylift/gpu/device/device.h>
#include <raylift/gpu/device/occupancy.h>
#include <raylift/gpu/memory/memory.h>
#include <raylift/gpu/memory/residency.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "support/paths.h"

namespace raylift {
namespace {

/// Sets or clears environment variables for a test, and puts them back.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~Environment() { old_ ? ::setenv(name_.c_str(), old_->c_str(), 1) : ::unsetenv(name_.c_str()); }

 private:
  std::string name_;
  std::optional<std::string> old_;
};

TEST(DeviceChoice, TakesTheHostWhereThereIsNoCudaDeviceAndSaysWhy) {
  if (cuda_device_count() > 0) GTEST_SKIP() << "there is a CUDA device";
  const test::TemporaryFolder home;
  const Environment clear("CUDA_DEVICE", nullptr);
  const Environment set("HOME", home.path().c_str());
  std::vector<Device::Attempt> attempts;
  EXPECT_TRUE(Device::choose(&attempts).info().is_host);
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_EQ(attempts[0].device, "cuda");
  EXPECT_FALSE(attempts[0].failure.empty());
  EXPECT_EQ(attempts[1].device, "host");
}

TEST(DeviceChoice, ObeysTheEnvironmentWithoutFallingBack) {
  const Environment set("CUDA_DEVICE", "977");
  try {
    (void)Device::choose();
    FAIL() << "there is no device 977";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_NE(std::string(error.what()).find("$CUDA_DEVICE"), std::string::npos) << error.what();
  }
}

TEST(DeviceChoice, ObeysBothSpellingsOfTheFileInTheHomeFolder) {
  const Environment clear("CUDA_DEVICE", nullptr);
  for (const char* spelling : {".cuda_device", ".cuda-device"}) {
    const test::TemporaryFolder home;
    const Environment set("HOME", home.path().c_str());
    (void)home.write(spelling, " 977\n");
    try {
      (void)Device::choose();
      FAIL() << "there is no device 977";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(spelling), std::string::npos) << error.what();
    }
  }
}

TEST(DeviceChoice, PrefersTheEnvironmentToTheFile) {
  const test::TemporaryFolder home;
  const Environment set_home("HOME", home.path().c_str());
  (void)home.write(".cuda_device", "978");
  const Environment set("CUDA_DEVICE", "977");
  try {
    (void)Device::choose();
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("977"), std::string::npos) << error.what();
  }
}

TEST(DeviceChoice, RefusesWhatIsNoNumber) {
  for (const char* text : {"first", "-1", "1x", " "}) {
    const Environment set("CUDA_DEVICE", text);
    EXPECT_THROW((void)Device::choose(), Error) << text;
  }
}

TEST(DeviceChoice, ParsesNames) {
  EXPECT_EQ(Device::parse("host", 12345).info().total_bytes, 12345U);
  for (const char* text : {"", "gpu", "cuda", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "Host"}) {
    try {
      (void)Device::parse(text);
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << text;
    }
  }
}

TEST(DeviceChoice, ListsTheHostLast) {
  std::vector<Device::Attempt> attempts;
  const std::vector<Device> devices = Device::all(&attempts);
  ASSERT_FALSE(devices.empty());
  EXPECT_TRUE(devices.back().info().is_host);
  EXPECT_EQ(attempts.back().device, "host");
}

TEST(DeviceMemory, OfTheHostIsItsBudget) {
  const Device device = Device::host(1'000'000);
  EXPECT_EQ(device.memory_info().free_bytes, 1'000'000U);
  EXPECT_EQ(device.memory_info().total_bytes, 1'000'000U);
}

TEST(DeviceMemory, IsKnownByItsAddresses) {
  const int local = 0;
  EXPECT_EQ(cuda_device_of(&local), -1);
  EXPECT_EQ(cuda_device_of(nullptr), -1);
  const int count = cuda_device_count();
  for (int i = 0; i < count; ++i) {
    const Device device = Device::parse("cuda:" + std::to_string(i));
    EXPECT_EQ(cuda_device_of(Memory::on_device(device, 1000).device() + 999), i);
    EXPECT_EQ(cuda_device_of(Memory::mapped(device, 1000, {}).device()), -1);
  }
}

TEST(OccupancyOfAKernel, IsNotToBeHadOnTheHost) {
  EXPECT_THROW((void)occupancy(Device::host(1000), nullptr, 128), Error);
}

TEST(Residency, PrintsBytesAsPeopleReadThem) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(1000), "1.00 kB");
  EXPECT_EQ(human_bytes(300'000'000), "300 MB");
  EXPECT_EQ(human_bytes(54'912'345), "54.9 MB");
  EXPECT_EQ(human_bytes(999'499), "999 kB");
  EXPECT_EQ(human_bytes(999'500), "1.00 MB");
  EXPECT_EQ(human_bytes(UINT64_MAX), "18.4 EB");
}

TEST(Residency, IsOneJsonObjectAndATableWithTotals) {
  ResidencyReport report;
  report.device_id = "host";
  report.device_name = "name \"with\" quotes\n";
  report.arrays.push_back({"triangles", ArrayRank::triangles, 3000, Residency::split, 2000, 1000, "why", true});
  report.arrays.push_back({"vertices", ArrayRank::vertices, 500, Residency::mapped, 0, 500, "", false});
  const auto json = nlohmann::json::parse(report.json());
  EXPECT_EQ(json["arrays"][0]["where"], "split");
  EXPECT_EQ(json["arrays"][0]["device_bytes"], 2000);
  EXPECT_EQ(json["device_bytes"], 2000);
  EXPECT_EQ(json["host_bytes"], 1500);
  EXPECT_TRUE(json["budget_bytes"].is_null());
  const std::string table = report.table();
  EXPECT_NE(table.find("split (fallback)"), std::string::npos);
  EXPECT_NE(table.find("total"), std::string::npos);
}

}  // namespace
}  // namespace raylift
