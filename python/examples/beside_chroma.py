# SPDX-License-Identifier: Apache-2.0
"""Chroma's GPUGeometry and raylift on one GPU: arrays of the same layout, shared with PyCUDA without a copy.

    python3 beside_chroma.py [SCENE]        # needs PyCUDA; what is marked needs Chroma

Both use the device's primary context, so that addresses of the one are the other's too.
"""
import sys

import numpy
import pycuda.autoprimaryctx  # noqa: F401  not autoinit, which would make a context of its own
import pycuda.driver
import pycuda.gpuarray

import raylift as rl

scene = rl.load(sys.argv[1] if sys.argv[1:] else rl.data_folder / "detector.dae")
# One mesh with an entry for each triangle, as Chroma has it; reserve is min_free_gpu_mem.
geometry = rl.upload(scene, "cuda:0", flatten=True, reserve=300e6)


def gpuarray(array):
    """PyCUDA's array over one of raylift's."""
    return pycuda.gpuarray.GPUArray(array.shape, array.dtype, gpudata=array.ptr, base=array)


vertices, triangles = gpuarray(geometry.vertices), gpuarray(geometry.triangles)  # GPUGeometry.vertices, .triangles
colors, solid_ids = gpuarray(geometry.colors), gpuarray(geometry.solid_ids)      # .colors, .solid_id_map
print(f"{triangles.shape[0]} triangles at {int(triangles.gpudata):#x}, {colors.get()[:3]}, {solid_ids.get().max()}")

# Chroma's own, of the same triangles: a chroma.geometry.Geometry of one Solid.
#   mesh = chroma.geometry.Mesh(vertices.get(), triangles.get())
#   detector = chroma.geometry.Geometry()
#   detector.add_solid(chroma.geometry.Solid(mesh, water, water))
#   detector.flatten()
#   gpu_geometry = chroma.gpu.GPUGeometry(detector)

# Photons of Chroma's go through raylift: pos and dir are float3 on the device.
positions = pycuda.gpuarray.to_gpu(numpy.zeros((1000, 3), numpy.float32))
directions = pycuda.gpuarray.to_gpu(numpy.random.default_rng(1).normal(size=(1000, 3)).astype(numpy.float32))
hits = geometry.trace(positions, directions)
print(f"{hits.valid.numpy().sum()} of {len(hits)} rays meet solids {numpy.unique(hits.solid.numpy())[:5]}")
