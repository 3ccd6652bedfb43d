// SPDX-License-Identifier: Apache-2.0
// OpenGL contexts without a window or a display, by EGL; and information on the
// current context, whoever created it.
#pragma once

#include <raylift/gpu/device/device.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace raylift {

/// What an OpenGL context is, and where it runs.
struct GlInfo {
  std::string vendor;
  std::string renderer;
  std::string version;
  int major = 0;
  int minor = 0;
  std::string platform;   ///< "EGL device 0", "EGL surfaceless"; "EGL" or "GLX" of a context made elsewhere
  bool software = false;  ///< it draws on the CPU
  int cuda_device = -1;   ///< the CUDA device that EGL says it draws on; -1 where EGL says nothing
};

struct GlContextOptions {
  /// Where a context may run. `automatic`: on a GPU where there is one, else on the CPU.
  enum class Renderer { automatic, device, software };

  Renderer renderer = Renderer::automatic;
  int cuda_device = -1;  ///< only on this CUDA device; -1: any
  bool debug = false;    ///< a debug context
  /// Prefers the GPU that can share memory with this device: with several GPUs, OpenGL's default may differ from
  /// CUDA's.
  std::optional<Device> beside = std::nullopt;
};

/// The renderer of that name ("auto", "device", "software"); throws Error(usage) for any other text.
[[nodiscard]] GlContextOptions::Renderer gl_renderer(std::string_view name);

/// An OpenGL 4.5 core context without a window. Made current on the calling thread, with GLEW initialised. Move-only.
/// One thread at a time may have it current. Objects shared in it (SharedBuffer, SharedImage) are closed when it is
/// destroyed.
class GlContext {
 public:
  /// Tries EGL's devices, NVIDIA's first, and then Mesa's surfaceless platform. Throws Error(no_display) with each
  /// attempt and why it failed.
  explicit GlContext(const GlContextOptions& options = {});
  ~GlContext();
  GlContext(GlContext&&) noexcept;
  GlContext& operator=(GlContext&&) noexcept;

  /// Makes it current on the calling thread. Throws Error(usage) where another thread has it.
  void make_current() const;
  /// Makes it current on no thread, so that another thread can take it. Throws Error(usage) if it is not current here.
  void release() const;
  [[nodiscard]] bool is_current() const;
  [[nodiscard]] const GlInfo& info() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// What the calling thread's current context is. Throws Error(no_display) where none is current.
[[nodiscard]] GlInfo gl_info();

/// Initialises GLEW for the calling thread's current context, of a window for example, and says what it is. Throws
/// Error(no_display) where no context is current, or where it is older than 4.5.
GlInfo init_gl();

}  // namespace raylift
