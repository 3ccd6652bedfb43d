// SPDX-License-Identifier: Apache-2.0
#include "keys.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <raylift/geometry/error.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/descriptor.h"
#include "base/trust.h"

namespace raylift::batch {
namespace fs = std::filesystem;
namespace {

constexpr const char* kServerFile = "server.key";
constexpr std::size_t kKeyLength = 40;

struct Pair {
  std::array<char, kKeyLength + 1> public_key{}, secret_key{};
};
Pair new_pair() {
  Pair pair;
  if (zmq_curve_keypair(pair.public_key.data(), pair.secret_key.data()) != 0)
    throw Error(ErrorKind::unsupported, "this libzmq has no CURVE", {}, "install one that is built with libsodium");
  return pair;
}

/// Replaces no file.
void write_secret(const fs::path& path, const std::string& text) {
  base::Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0)
    throw Error(errno == EEXIST ? ErrorKind::usage : ErrorKind::io,
                errno == EEXIST ? "there are keys already" : std::strerror(errno), {path.string(), ""},
                errno == EEXIST ? "whoever has keys of them would lose access: name another folder" : "");
  int failed = ::fchmod(file.get(), 0600) != 0 ? errno : base::write_all(file.get(), text);
  if (failed == 0) failed = file.close();
  if (failed != 0) throw Error(ErrorKind::io, std::strerror(failed), {path.string(), ""});
}

std::string client_text(const Pair& pair, const std::string& server) {
  return fmt::format("server = {}\npublic = {}\nsecret = {}\n", server, pair.public_key.data(), pair.secret_key.data());
}

bool is_key(const std::string& text) {
  std::array<std::uint8_t, 32> bytes{};
  return text.size() == kKeyLength && zmq_z85_decode(bytes.data(), text.c_str()) != nullptr;
}

}  // namespace

void write_new_keys(const fs::path& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    throw Error(ErrorKind::io, std::string("the folder can't be made: ") + std::strerror(errno), {folder.string(), ""});
  const Pair server = new_pair(), client = new_pair();
  write_secret(folder / kServerFile, fmt::format("public = {}\nsecret = {}\nclient = {}\n", server.public_key.data(),
                                                 server.secret_key.data(), client.public_key.data()));
  write_secret(folder / "client.key", client_text(client, server.public_key.data()));
}

void write_new_client(const fs::path& folder, const std::string& name) {
  const ServerKeys keys = read_server_keys(folder);
  const Pair client = new_pair();
  write_secret(folder / (name + ".key"), client_text(client, keys.public_key));
  std::ofstream file(folder / kServerFile, std::ios::app);
  file << "client = " << client.public_key.data() << '\n';
  if (!file.flush()) throw Error(ErrorKind::io, "the client can't be added", {(folder / kServerFile).string(), ""});
}

ServerKeys read_server_keys(const fs::path& path) {
  const fs::path file = fs::is_directory(path) ? path / kServerFile : path;
  const base::Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (opened.get() < 0 || ::fstat(opened.get(), &status) != 0)
    throw Error(ErrorKind::io, std::string("the keys can't be read: ") + std::strerror(errno), {file.string(), ""},
                "make them by 'raylift serve --keygen FOLDER'");
  std::string why = S_ISREG(status.st_mode) ? base::mistrust(status) : "is no regular file";
  if (why.empty() && (status.st_mode & (S_IRWXG | S_IRWXO)) != 0) why = "can be read by others";
  if (!why.empty())
    throw Error(ErrorKind::io, "the file of keys " + why, {file.string(), ""}, "make it the user's alone by chmod 600");
  constexpr off_t kMax = 1 << 20;
  if (status.st_size > kMax) throw Error(ErrorKind::malformed, "it is too large for keys", {file.string(), ""});
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  const ssize_t got = ::read(opened.get(), text.data(), text.size());
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  ServerKeys keys;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name, is, key, more;
    words >> name >> is >> key;
    std::string* const single = name == "public" ? &keys.public_key : name == "secret" ? &keys.secret_key : nullptr;
    if (is != "=" || !is_key(key) || words >> more || (single == nullptr && name != "client"))
      throw Error(ErrorKind::malformed, "this is no key", {file.string(), fmt::format("line {}", number)},
                  "a line is 'public = KEY', 'secret = KEY' or 'client = KEY', with 40 characters of Z85");
    if (single != nullptr)
      *single = key;
    else
      keys.clients.push_back(key);
  }
  if (keys.public_key.empty() || keys.secret_key.empty())
    throw Error(ErrorKind::malformed, "the server's own keys are missing", {file.string(), ""},
                "name the file server.key of 'raylift serve --keygen', or its folder");
  return keys;
}

}  // namespace raylift::batch
