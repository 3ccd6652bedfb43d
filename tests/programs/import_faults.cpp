// SPDX-License-Identifier: Apache-2.0
#include "import_faults.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <raylift/geometry/error.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "import/import_protocol.h"
#include "import/sanitized.h"
#include "import/scene_stream.h"

namespace raylift::test {
namespace {

using namespace import;

struct Fault {
  std::string name, argument;
};

Fault wanted() {
  const char* set = std::getenv("RAYLIFT_IMPORT_FAULT");
  const std::string text = set != nullptr ? set : "";
  const std::size_t blank = std::min(text.find(' '), text.size());
  return {text.substr(0, blank), text.substr(std::min(blank + 1, text.size()))};
}

// What an importer attempts that an attacker controls -----------------------------------------------------------------

int connect_port(const std::string& port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  return socket < 0 ? -1 : ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

int connect_path(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  return socket < 0 ? -1 : ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

int read_byte(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char byte = 0;
  return file < 0 ? -1 : static_cast<int>(::read(file, &byte, 1));
}

int read_memory(const std::string& process) {
  char byte = 0;
  iovec own{&byte, 1};
  iovec other{reinterpret_cast<void*>(&wanted), 1};
  return static_cast<int>(::process_vm_readv(std::stoi(process), &own, 1, &other, 1, 0)) == 1 || errno == EFAULT ? 0
                                                                                                                 : -1;
}

int fork_once(const std::string&) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  return child < 0 ? -1 : ::waitpid(child, nullptr, 0);
}

int run(const std::string& program) {
  char* const none[] = {nullptr};
  return ::execve(program.c_str(), none, none);
}

int raise_limit(const std::string&) {
  const rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  return ::setrlimit(RLIMIT_AS, &limit);
}

/// More than so many threads. The system limits none of root's: so this looks at the limit itself.
int start_threads(const std::string& threads) {
  rlimit limit{};
  errno = EAGAIN;
  return ::getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_max <= std::stoull(threads) ? -1 : 0;
}

/// An attempt, with an argument where it needs one. A result below 0: refused, for the reason in errno.
constexpr struct {
  std::string_view name;
  int (*act)(const std::string&);
} kAttempts[] = {
    {"connect", connect_port},
    {"connect-path", connect_path},
    {"read", read_byte},
    {"list", [](const std::string& path) { return ::opendir(path.c_str()) == nullptr ? -1 : 0; }},
    {"write", [](const std::string& path) { return ::open(path.c_str(), O_WRONLY | O_CREAT, 0600); }},
    {"truncate", [](const std::string& path) { return ::truncate(path.c_str(), 0); }},
    {"truncating-open", [](const std::string& path) { return ::open(path.c_str(), O_RDONLY | O_TRUNC); }},
    {"remove", [](const std::string& path) { return ::unlink(path.c_str()); }},
    {"rename", [](const std::string& path) { return ::rename(path.c_str(), (path + ".gone").c_str()); }},
    {"mode", [](const std::string& path) { return ::chmod(path.c_str(), 0777); }},
    {"kill", [](const std::string& process) { return ::kill(std::stoi(process), SIGKILL); }},
    {"trace",
     [](const std::string& process) {
       return static_cast<int>(::ptrace(PTRACE_ATTACH, std::stoi(process), nullptr, nullptr));
     }},
    {"read-memory", read_memory},
    {"fork", fork_once},
    {"run", run},
    {"code",
     [](const std::string&) {
       return ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0;
     }},
    {"raise-limit", raise_limit},
    {"start-threads", start_threads},
    {"environment", [](const std::string& name) { return std::getenv(name.c_str()) == nullptr ? -1 : 0; }},
    {"outlive", [](const std::string&) { return ::prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0); }},
    {"own-signal", [](const std::string& process) { return ::fcntl(kProgress, F_SETOWN, std::stoi(process)); }},
    {"grow", [](const std::string& bytes) { return ::ftruncate(kResult, std::stoll(bytes)); }},
    {"ioctl",
     [](const std::string&) {
       int bytes = 0;
       return ::ioctl(kProgress, FIONREAD, &bytes);
     }},
};

void attempt(const Fault& fault) {
  for (const auto& [name, act] : kAttempts) {
    if (fault.name != name) continue;
    errno = 0;
    const int result = act(fault.argument);
    throw Error(ErrorKind::malformed,
                fault.name + (result < 0 ? std::string(" refused: ") + std::strerror(errno) : " done"));
  }
}

// An importer that breaks, and one that returns nonsense --------------------------------------------------------------

/// Allocates 16 MiB for good.
void allocate_memory() {
  static std::vector<std::unique_ptr<char[]>> allocated;
  allocated.push_back(std::make_unique<char[]>(std::size_t{16} << 20));
}

/// Reserves addresses until none are left for a thread's stack. A small import needs no more than the heap has already.
void reserve_stacks() {
  while (!kSanitized && ::mmap(nullptr, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) {
  }
}

/// Reports progress without end.
[[noreturn]] void flood() {
  ProgressRecord records[32]{};
  for (ProgressRecord& record : records) record.stage[0] = 'x';
  while (true) (void)!::write(kProgress, records, sizeof records);
}

/// Returns a result that is a hole of so many bytes, behind the start of a scene.
[[noreturn]] void write_hole(const std::string& bytes) {
  ByteWriter writer;
  writer.value(kVersion);
  writer.value(Outcome::scene);
  const std::uint64_t size = std::stoull(bytes);
  writer.value(size / 2);  // of the scene's first text
  writer.write_to(kResult);
  ::_exit(::ftruncate(kResult, static_cast<off_t>(size)) == 0 ? 0 : 1);
}

/// Returns an error of a kind that no importer may return: it would end a batch.
[[noreturn]] void forge_error() {
  ByteWriter writer;
  writer.value(kVersion);
  writer.value(Outcome::error);
  put_error(writer, Error(ErrorKind::usage, "the options are wrong"));
  writer.write_to(kResult);
  ::_exit(0);
}

}  // namespace

void commit_import_fault() {
  const Fault fault = wanted();
  if (fault.name.empty()) return;
  if (fault.name == "segv") ::raise(SIGSEGV);
  if (fault.name == "abort") std::abort();
  if (fault.name == "term") ::raise(SIGTERM);
  if (fault.name == "exit") ::_exit(42);
  if (fault.name == "garbage") {
    const std::string noise(1000, '\x5A');
    ::_exit(::write(kResult, &kVersion, sizeof kVersion) > 0 && ::write(kResult, noise.data(), noise.size()) > 0 ? 0
                                                                                                                 : 1);
  }
  if (fault.name == "forge") forge_error();
  if (fault.name == "flood") flood();
  if (fault.name == "hole") write_hole(fault.argument);
  while (fault.name == "hang") ::pause();
  for (int blocks = 0; fault.name == "memory"; ++blocks) {
    if (kSanitized && blocks == 128) throw std::bad_alloc();  // no limit is set
    allocate_memory();
  }
  if (fault.name == "stacks") return reserve_stacks();
  attempt(fault);
}

bool keeps_result() {
  return wanted().name == "keep";
}

/// A writable mapping keeps the parent from sealing the result.
void keep_result() {
  const off_t size = ::lseek(kResult, 0, SEEK_CUR);
  if (::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED, kResult, 0) == MAP_FAILED)
    return;
  const ProgressRecord complete{};
  (void)!::write(kProgress, &complete, sizeof complete);
  while (true) {
    (void)!::ftruncate(kResult, 0);
    (void)!::ftruncate(kResult, size);
  }
}

}  // namespace raylift::test
