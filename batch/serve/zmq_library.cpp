// SPDX-License-Identifier: Apache-2.0
#include "zmq_library.h"

#include <dlfcn.h>
#include <raylift/geometry/error.h>
#include <zmq.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <type_traits>

#include "base/own_parts.h"

// All functions of libzmq that the service and its client use: result, name, parameters, arguments.
#define RAYLIFT_ZMQ_FUNCTIONS(F)                                                                                    \
  F(int, zmq_bind, (void* socket, const char* address), (socket, address))                                          \
  F(int, zmq_close, (void* socket), (socket))                                                                       \
  F(int, zmq_connect, (void* socket, const char* address), (socket, address))                                       \
  F(void*, zmq_ctx_new, (), ())                                                                                     \
  F(int, zmq_ctx_set, (void* context, int option, int value), (context, option, value))                             \
  F(int, zmq_ctx_shutdown, (void* context), (context))                                                              \
  F(int, zmq_ctx_term, (void* context), (context))                                                                  \
  F(int, zmq_curve_keypair, (char* open, char* secret), (open, secret))                                             \
  F(int, zmq_errno, (), ())                                                                                         \
  F(int, zmq_getsockopt, (void* socket, int option, void* value, size_t* size), (socket, option, value, size))      \
  F(int, zmq_msg_close, (zmq_msg_t * message), (message))                                                           \
  F(void*, zmq_msg_data, (zmq_msg_t * message), (message))                                                          \
  F(int, zmq_msg_init, (zmq_msg_t * message), (message))                                                            \
  F(int, zmq_msg_init_data, (zmq_msg_t * message, void* data, size_t size, zmq_free_fn* release, void* hint),       \
    (message, data, size, release, hint))                                                                           \
  F(int, zmq_msg_init_size, (zmq_msg_t * message, size_t size), (message, size))                                    \
  F(int, zmq_msg_more, (const zmq_msg_t* message), (message))                                                       \
  F(int, zmq_msg_move, (zmq_msg_t * to, zmq_msg_t * from), (to, from))                                              \
  F(int, zmq_msg_recv, (zmq_msg_t * message, void* socket, int flags), (message, socket, flags))                    \
  F(int, zmq_msg_send, (zmq_msg_t * message, void* socket, int flags), (message, socket, flags))                    \
  F(size_t, zmq_msg_size, (const zmq_msg_t* message), (message))                                                    \
  F(int, zmq_poll, (zmq_pollitem_t * items, int count, long timeout), (items, count, timeout))                      \
  F(int, zmq_proxy_steerable, (void* front, void* back, void* capture, void* control),                              \
    (front, back, capture, control))                                                                                \
  F(int, zmq_send, (void* socket, const void* data, size_t size, int flags), (socket, data, size, flags))           \
  F(int, zmq_setsockopt, (void* socket, int option, const void* value, size_t size), (socket, option, value, size)) \
  F(void*, zmq_socket, (void* context, int type), (context, type))                                                  \
  F(int, zmq_socket_monitor, (void* socket, const char* address, int events), (socket, address, events))            \
  F(const char*, zmq_strerror, (int number), (number))                                                              \
  F(uint8_t*, zmq_z85_decode, (uint8_t * to, const char* text), (to, text))                                         \
  F(char*, zmq_z85_encode, (char* to, const uint8_t* data, size_t size), (to, data, size))

namespace {

#define RAYLIFT_POINTER(result, name, parameters, arguments) result(*name) parameters = nullptr;
struct {
  RAYLIFT_ZMQ_FUNCTIONS(RAYLIFT_POINTER)
} loaded;
#undef RAYLIFT_POINTER

}  // namespace

// In place of the library's own, for the headers of ZeroMQ.
extern "C" {
#define RAYLIFT_DEFINE(result, name, parameters, arguments) \
  result name parameters {                                  \
    return loaded.name arguments;                           \
  }
RAYLIFT_ZMQ_FUNCTIONS(RAYLIFT_DEFINE)
#undef RAYLIFT_DEFINE
}

namespace raylift::batch {
namespace {

bool load() {
  const auto refuse = [](const std::string& why) {
    throw Error(ErrorKind::unsupported, "ZeroMQ can't be used: " + why, {}, "install raylift's programs with libzmq5");
  };
  std::string why = "raylift-zmq.so was not found";
  void* library = nullptr;
  for (const std::filesystem::path& place : base::places_of("raylift-zmq.so", "RAYLIFT_ZMQ", RAYLIFT_LIBEXEC)) {
    if (library != nullptr) break;
    std::error_code ignored;
    if (!std::filesystem::exists(place, ignored)) continue;
    library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) why = ::dlerror();
  }
  if (library == nullptr) refuse(why);
  const auto find = [&](auto& pointer, const char* name) {
    void* const found = ::dlsym(library, name);  // of the libraries that it needs too
    if (found == nullptr) refuse(std::string("it has no ") + name);
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(found);
  };
#define RAYLIFT_FIND(result, name, parameters, arguments) find(loaded.name, #name);
  RAYLIFT_ZMQ_FUNCTIONS(RAYLIFT_FIND)
#undef RAYLIFT_FIND
  return true;
}

}  // namespace

void load_zmq() {
  static const bool is_loaded = load();
  static_cast<void>(is_loaded);
}

}  // namespace raylift::batch
