// SPDX-License-Identifier: Apache-2.0
#include "sandbox.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <raylift/geometry/error.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "base/descriptor.h"
#include "import/import_process.h"
#include "process.h"
#include "sanitized.h"

namespace raylift {
namespace {

[[noreturn]] void fail(const std::string& what, int code) {
  throw Error(ErrorKind::io, "can't confine the import process: " + what + ": " + std::strerror(code), {},
              "import without isolation, if the file is to be trusted");
}

// Files: Landlock, which has no library in the distributions ---------------------------------------------------------

/// The version of the kernel's Landlock; below 1 where it has none, or where it is off.
long landlock_version() noexcept {
  return ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

/// Every right on files that a version has. They are bits, numbered from 0; a kernel refuses those of later versions.
std::uint64_t all_file_rights(long version) {
  const unsigned count = version >= 5 ? 16 : version >= 3 ? 15 : version == 2 ? 14 : 13;
  return (std::uint64_t{1} << count) - 1;
}

void allow(const base::Descriptor& rules, const std::filesystem::path& place, std::uint64_t rights) {
  const base::Descriptor file = detail::opened(::open(place.c_str(), O_PATH | O_CLOEXEC), "the file can't be opened");
  landlock_path_beneath_attr rule{};
  rule.allowed_access = rights;
  rule.parent_fd = file.get();
  if (::syscall(SYS_landlock_add_rule, rules.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) fail("Landlock", errno);
}

void restrict_files(const std::filesystem::path& input, std::span<const std::filesystem::path> folders) {
  landlock_ruleset_attr handled{};
  handled.handled_access_fs = all_file_rights(landlock_version());
  const base::Descriptor rules =
      detail::opened(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0)),
                     "can't confine the import process: Landlock");
  allow(rules, input, LANDLOCK_ACCESS_FS_READ_FILE);
  for (const std::filesystem::path& folder : folders)
    allow(rules, folder.empty() ? "." : folder, LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::syscall(SYS_landlock_restrict_self, rules.get(), 0) != 0)
    fail("Landlock", errno);
}

// System calls: seccomp ----------------------------------------------------------------------------------------------

/// What an import uses with any arguments. Of the rest, what is not in Filter's constructor is not there.
constexpr int kCalls[] = {
    // its descriptors, and looking at files
    SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(readv), SCMP_SYS(write), SCMP_SYS(pwrite64), SCMP_SYS(writev),
    SCMP_SYS(lseek), SCMP_SYS(dup), SCMP_SYS(close), SCMP_SYS(ftruncate), SCMP_SYS(fstat), SCMP_SYS(stat),
    SCMP_SYS(lstat), SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2),
    SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(getcwd), SCMP_SYS(getdents64),
    // memory and threads
    SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(futex), SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity), SCMP_SYS(getcpu), SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(membarrier),
    // time, and who and where it is
    SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(clock_nanosleep), SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getppid), SCMP_SYS(getuid),
    SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getegid), SCMP_SYS(uname), SCMP_SYS(sysinfo), SCMP_SYS(getrlimit),
    SCMP_SYS(getrusage), SCMP_SYS(getrandom),
    // its own signals, and its end
    SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack), SCMP_SYS(pause),
    SCMP_SYS(restart_syscall), SCMP_SYS(exit), SCMP_SYS(exit_group)};

class Filter {
 public:
  Filter() {
    // "Not there" is what programs are written for: glibc then takes clone() for clone3(), whose flags no filter sees.
    context_.reset(seccomp_init(SCMP_ACT_ERRNO(ENOSYS)));
    if (!context_) fail("seccomp", ENOMEM);
    for (const int call : kCalls) allow(call);
    for (const auto& [call, flags] : {std::pair{SCMP_SYS(open), 1U}, {SCMP_SYS(openat), 2U}})
      allow(call, masked(flags, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY));
    for (const int command : {F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC}) allow(SCMP_SYS(fcntl), equal(1, command));
    for (const int call : {SCMP_SYS(mmap), SCMP_SYS(mprotect)}) allow(call, masked(2, PROT_EXEC, 0));
    allow(SCMP_SYS(clone), masked(0, CLONE_THREAD, CLONE_THREAD));
    allow(SCMP_SYS(tgkill), equal(0, ::getpid()));                      // raise() and abort()
    allow(SCMP_SYS(prlimit64), equal(0, 0), masked(2, UINT64_MAX, 0));  // only to look
    allow(SCMP_SYS(prctl), equal(0, PR_SET_NAME));
  }

  void load() const {
    if (const int code = seccomp_load(context_.get()); code != 0) fail("seccomp", -code);
  }

 private:
  struct Release {
    void operator()(void* context) const { seccomp_release(context); }
  };

  /// The bits in `mask` of the argument with this number.
  static scmp_arg_cmp masked(unsigned argument, std::uint64_t mask, std::uint64_t value) {
    return {argument, SCMP_CMP_MASKED_EQ, mask, value};
  }
  /// An int: what its register has above is undefined.
  static scmp_arg_cmp equal(unsigned argument, int value) {
    return masked(argument, UINT32_MAX, static_cast<unsigned>(value));
  }

  template <class... Comparisons>
  void allow(int call, Comparisons... comparisons) {
    const int code = seccomp_rule_add(context_.get(), SCMP_ACT_ALLOW, call, sizeof...(comparisons), comparisons...);
    if (code != 0) fail("seccomp", -code);
  }

  std::unique_ptr<void, Release> context_;
};

}  // namespace

ImportSandbox import_sandbox() noexcept {
  if (kSanitized) return {};
  return {landlock_version() >= 1, ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0};
}

void import::enter_sandbox(const std::filesystem::path& input, std::span<const std::filesystem::path> folders) {
  const ImportSandbox sandbox = import_sandbox();
  if (sandbox.landlock) restrict_files(input, folders);
  if (sandbox.seccomp) Filter().load();
}

}  // namespace raylift
