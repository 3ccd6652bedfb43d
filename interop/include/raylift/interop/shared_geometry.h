// SPDX-License-Identifier: Apache-2.0
// Geometry whose vertices and triangles are OpenGL buffers: they exist once, for
// kernels and for drawing.
//
//   const raylift::SharedGeometry geometry = raylift::upload_shared(scene, device, options);
//   {
//     const auto mapping = geometry.map(stream);
//     kernel<<<blocks, threads, 0, cuda_stream>>>(mapping.view(), ...);
//   }
//   glVertexArrayVertexBuffer(array, 0, geometry.vertex_buffer(), 0, sizeof(raylift::Float3));
//   glVertexArrayElementBuffer(array, geometry.triangle_buffer());   // three GL_UNSIGNED_INT a triangle
//
// A program that loads in the background does this in three steps, see SharedUpload.
#pragma once

#include <raylift/gpu/upload/gpu_geometry.h>
#include <raylift/interop/shared_buffer.h>

#include <optional>

namespace raylift {

/// Geometry on a device, whose vertices and triangles OpenGL draws. Move-only. Mapped on the thread where the OpenGL
/// context is current; may be destroyed on any thread, also after its context.
class SharedGeometry {
 public:
  /// A scope in which shared geometry is mapped for kernels, with the rules of raylift::Mapping. OpenGL must not draw
  /// it meanwhile.
  class Mapping {
   public:
    /// For kernels on the stream that it was mapped with. Its addresses are valid until the end of the mapping.
    [[nodiscard]] const GeometryView& view() const& { return view_; }
    const GeometryView& view() && = delete;
    /// Ends it now. Throws Error: usage on a wrong thread, device. Again does nothing.
    void unmap() {
      view_ = {};
      mapping_.unmap();
    }

   private:
    friend class SharedGeometry;
    Mapping(raylift::Mapping<Float3, UInt3> mapping, const GeometryView& view)
        : mapping_(std::move(mapping)), view_(view) {}

    raylift::Mapping<Float3, UInt3> mapping_;
    GeometryView view_;
  };

  /// Throws Error as map_together does.
  [[nodiscard]] Mapping map(StreamRef stream) const;

  /// OpenGL's names. Vertices are packed Float3, in the frame of their mesh; a mesh's triangles begin at element
  /// 3 * MeshView::first_triangle, and their indices count from the first vertex of all.
  [[nodiscard]] unsigned vertex_buffer() const { return vertices_.id(); }
  [[nodiscard]] unsigned triangle_buffer() const { return triangles_.id(); }
  [[nodiscard]] std::size_t vertex_count() const { return vertices_.size(); }
  [[nodiscard]] std::size_t triangle_count() const { return triangles_.size(); }
  /// Whether vertices and triangles exist once; otherwise why_not() gives the reason why OpenGL has its own copy.
  [[nodiscard]] bool shares() const { return vertices_.shares() && triangles_.shares(); }
  [[nodiscard]] const std::string& why_not() const { return vertices_.why_not(); }
  [[nodiscard]] const ResidencyReport& report() const { return geometry_.report(); }
  [[nodiscard]] const Device& device() const { return geometry_.device(); }
  /// Releases OpenGL's buffers. Again, or after its context has gone, does nothing.
  void close() noexcept {
    vertices_.close();
    triangles_.close();
  }

 private:
  friend class SharedUpload;
  SharedGeometry(SharedBuffer<Float3> vertices, SharedBuffer<UInt3> triangles, GpuGeometry geometry)
      : vertices_(std::move(vertices)), triangles_(std::move(triangles)), geometry_(std::move(geometry)) {}

  // Mapping changes nothing that a caller sees.
  mutable SharedBuffer<Float3> vertices_;
  mutable SharedBuffer<UInt3> triangles_;
  GpuGeometry geometry_;
};

/// An upload into OpenGL buffers, in three steps:
///
///   raylift::SharedUpload shared(scene, device, options);                               // where OpenGL is current
///   raylift::GpuGeometry geometry = raylift::upload(scene, device, shared.options());   // on any thread
///   raylift::SharedGeometry result = shared.finish(std::move(geometry));                // where OpenGL is current
///
/// If the second step fails, destroy this: it releases everything. Move-only.
class SharedUpload {
 public:
  /// Makes buffers for the scene's vertices and triangles, and maps them. Throws Error: as SharedBuffer does, and
  /// out_of_device_memory where they don't fit into what placement may use (reserve and budget): OpenGL's buffers are
  /// not split.
  SharedUpload(const Scene& scene, const Device& device, const UploadOptions& options = {},
               Sharing sharing = Sharing::automatic);
  /// The same by numbers, for geometry that does not come from a scene.
  SharedUpload(std::size_t vertices, std::size_t triangles, const Device& device, const UploadOptions& options = {},
               Sharing sharing = Sharing::automatic);

  /// For an upload onto the same device. Valid until finish() or destruction.
  [[nodiscard]] const UploadOptions& options() const { return options_; }
  /// Hands the buffers to OpenGL. Throws Error(usage) for geometry that was not uploaded with options().
  [[nodiscard]] SharedGeometry finish(GpuGeometry geometry);

 private:
  UploadOptions options_;
  SharedBuffer<Float3> vertices_;
  SharedBuffer<UInt3> triangles_;
  Stream stream_;
  std::optional<Mapping<Float3, UInt3>> mapping_;
};

/// The three steps in one, where OpenGL is current.
[[nodiscard]] SharedGeometry upload_shared(const Scene& scene, const Device& device, const UploadOptions& options = {},
                                           const Progress& progress = {}, Sharing sharing = Sharing::automatic);

}  // namespace raylift
