// SPDX-License-Identifier: Apache-2.0
// Bodies in shared memory: opened where they are sealed and are what they say, and nowhere else.
#include <gmock/gmock.h>
#include <raylift/client/detail/shared_memory.h>

#include <string>

namespace raylift::client {
namespace {

using testing::HasSubstr;

std::string refused(const protocol::SharedMemory& where) {
  std::string why;
  EXPECT_EQ(SharedBody::open(where, why), nullptr);
  return why;
}

TEST(SharedMemory, HasTheBytesOfItsPieces) {
  const std::string first = "first", second(100'000, 'x');
  const auto body = SharedBody::of({{first.data(), first.size()}, {nullptr, 0}, {second.data(), second.size()}});
  ASSERT_NE(body, nullptr);
  EXPECT_EQ(body->where().bytes, first.size() + second.size());
  std::string why;
  const auto opened = SharedBody::open(body->where(), why);
  ASSERT_NE(opened, nullptr) << why;
  EXPECT_EQ(std::string(static_cast<const char*>(opened.get()), body->where().bytes), first + second);
  EXPECT_EQ(std::memcmp(body->mapped().get(), opened.get(), body->where().bytes), 0);
}

TEST(SharedMemory, StaysAfterItsSenderLetsItGo) {
  auto body = SharedBody::of("bytes", 5);
  std::string why;
  const auto opened = SharedBody::open(body->where(), why);
  const protocol::SharedMemory where = body->where();
  body.reset();
  EXPECT_EQ(std::string(static_cast<const char*>(opened.get()), 5), "bytes");
  EXPECT_THAT(refused(where), HasSubstr("No such file"));
}

TEST(SharedMemory, CanNotBeChangedOrShortened) {
  const auto body = SharedBody::of("bytes", 5);
  const int descriptor = static_cast<int>(body->where().descriptor);
  EXPECT_EQ(::ftruncate(descriptor, 1), -1);
  EXPECT_EQ(::ftruncate(descriptor, 10), -1);
  EXPECT_EQ(::pwrite(descriptor, "x", 1, 0), -1);
  EXPECT_EQ(::mmap(nullptr, 5, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), MAP_FAILED);
}

TEST(SharedMemory, IsRefusedWhereItIsSomethingElse) {
  const auto body = SharedBody::of("bytes", 5);
  protocol::SharedMemory where = body->where();
  where.bytes = 4;
  EXPECT_EQ(refused(where), "it has another size");
  where = body->where();
  where.token[3] = where.token[3] == 'a' ? 'b' : 'a';
  EXPECT_EQ(refused(where), "it is not that memory");
  where.token[3] = '/';
  EXPECT_EQ(refused(where), "its token is none");
  where = body->where();
  where.process = 0x7FFFFFFF;
  EXPECT_THAT(refused(where), HasSubstr("No such file"));
  where = body->where();
  where.descriptor = 0;
  EXPECT_EQ(refused(where), "it is not that memory") << "a pipe or terminal";
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  where.descriptor = static_cast<std::uint32_t>(pipe[0]);
  EXPECT_EQ(refused(where), "it is not that memory");
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(SharedMemory, IsRefusedWhereItIsNotSealed) {
  const std::string name = "raylift-" + std::string(16, 'a');
  for (const int seals : {0, F_SEAL_SHRINK | F_SEAL_GROW, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE}) {
    const int descriptor = ::memfd_create(name.c_str(), MFD_ALLOW_SEALING);
    ASSERT_EQ(::ftruncate(descriptor, 5), 0);
    ASSERT_EQ(::fcntl(descriptor, F_ADD_SEALS, seals), 0);
    protocol::SharedMemory where;
    where.bytes = 5;
    where.process = static_cast<std::uint32_t>(::getpid());
    where.descriptor = static_cast<std::uint32_t>(descriptor);
    std::memset(where.token, 'a', sizeof where.token);
    EXPECT_EQ(refused(where), "it is not sealed") << seals;
    ::close(descriptor);
  }
}

}  // namespace
}  // namespace raylift::client
