// SPDX-License-Identifier: Apache-2.0
// Bodies in shared memory, for both ends: ZeroMQ can't pass descriptors, so a body is a sealed memfd of its sender,
// which the other end opens by /proc/PID/fd/N. The kernel lets only processes do so that may trace the sender: of the
// same user.
#pragma once

#include <fcntl.h>
#include <raylift/client/protocol.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <random>
#include <string>

namespace raylift::client {

/// A body that others may open while this lives.
class SharedBody {
 public:
  /// A copy of the bytes that no process can change, shorten or extend any more; null where the system has no room for
  /// it.
  [[nodiscard]] static std::unique_ptr<SharedBody> of(const void* data, std::size_t size) { return of({{data, size}}); }
  struct Piece {
    const void* data;
    std::size_t size;
  };
  /// The same of pieces, one behind the other.
  [[nodiscard]] static std::unique_ptr<SharedBody> of(std::initializer_list<Piece> pieces) {
    std::unique_ptr<SharedBody> made(new SharedBody);
    std::random_device random;
    for (char& letter : made->where_.token) letter = "0123456789abcdef"[random() % 16];
    const std::string name = name_of(made->where_);
    made->descriptor_ = ::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (made->descriptor_ < 0) return nullptr;
    for (const Piece& piece : pieces) {
      const char* from = static_cast<const char*>(piece.data);
      for (std::size_t left = piece.size; left != 0;) {
        const ssize_t done = ::write(made->descriptor_, from, left);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return nullptr;
        from += done;
        left -= static_cast<std::size_t>(done);
      }
      made->where_.bytes += piece.size;
    }
    if (::fcntl(made->descriptor_, F_ADD_SEALS, kSeals) != 0) return nullptr;
    made->where_.process = static_cast<std::uint32_t>(::getpid());
    made->where_.descriptor = static_cast<std::uint32_t>(made->descriptor_);
    return made;
  }
  ~SharedBody() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  SharedBody(const SharedBody&) = delete;
  SharedBody& operator=(const SharedBody&) = delete;

  [[nodiscard]] const protocol::SharedMemory& where() const { return where_; }
  /// Its bytes here; they stay after this.
  [[nodiscard]] std::shared_ptr<const void> mapped() const { return map(descriptor_, where_.bytes); }

  /// The bytes of another process's; null, with the reason, where it has no such memory, or could change it.
  [[nodiscard]] static std::shared_ptr<const void> open(const protocol::SharedMemory& where, std::string& why) {
    const std::string path = "/proc/" + std::to_string(where.process) + "/fd/" + std::to_string(where.descriptor);
    // Before it is opened: to open a pipe or a device may block, or do something.
    char target[64];
    const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
    if (length < 0) {
      why = std::strerror(errno);
      return nullptr;
    }
    for (const char letter : where.token)
      if (std::strchr("0123456789abcdef", letter) == nullptr || letter == '\0') {
        why = "its token is none";
        return nullptr;
      }
    const std::string expected = "/memfd:" + name_of(where) + " (deleted)";
    if (std::string(target, static_cast<std::size_t>(length)) != expected) {
      why = "it is not that memory";
      return nullptr;
    }
    const int opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (opened < 0) {
      why = std::strerror(errno);
      return nullptr;
    }
    struct stat status {};
    std::shared_ptr<const void> result;
    if (::fstat(opened, &status) != 0 || (::fcntl(opened, F_GET_SEALS) & kSeals) != kSeals)
      why = "it is not sealed";
    else if (status.st_size < 0 || static_cast<std::uint64_t>(status.st_size) != where.bytes)
      why = "it has another size";
    else if ((result = map(opened, where.bytes)) == nullptr)
      why = std::strerror(errno);
    ::close(opened);
    return result;
  }

 private:
  static constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

  SharedBody() = default;
  static std::string name_of(const protocol::SharedMemory& where) {
    return "raylift-" + std::string(where.token, sizeof where.token);
  }
  static std::shared_ptr<const void> map(int descriptor, std::uint64_t bytes) {
    const auto size = static_cast<std::size_t>(bytes);
    if (size == 0) return std::make_shared<int>(0);
    void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, descriptor, 0);
    if (mapped == MAP_FAILED) return nullptr;
    return {mapped, [size](const void* where) { ::munmap(const_cast<void*>(where), size); }};
  }

  protocol::SharedMemory where_;
  int descriptor_ = -1;
};

}  // namespace raylift::client
