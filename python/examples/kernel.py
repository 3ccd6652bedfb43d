# SPDX-License-Identifier: Apache-2.0
"""PyCUDA's first tutorial, a kernel that doubles an array, and then a kernel that traces rays; needs a GPU.

    PYTHONPATH=~/raylift-python python3 kernel.py [SCENE]
"""
import sys

import numpy

import raylift as rl

device = rl.Device()

# PyCUDA:                                                   raylift:
#   mod = SourceModule("...")                                 rl.Module("...", device)
#   func = mod.get_function("doublify")                       module.function("doublify")
#   func(a_gpu, block=(4, 4, 1))                              doublify(a, grid=1, block=(4, 4, 1))
module = rl.Module("""
    __global__ void doublify(float* a) {
      a[threadIdx.x + threadIdx.y * 4] *= 2;
    }""", device)
try:
    import cupy

    a = cupy.random.standard_normal((4, 4), dtype=cupy.float32)
    doubled = 2 * a
    module.function("doublify")(a, grid=1, block=(4, 4, 1))
    assert (a == doubled).all()
except ImportError:
    print("no CuPy: arrays of PyTorch or Numba do as well")

# A kernel over the geometry, which it gets by value.
geometry = rl.upload(rl.load(sys.argv[1] if sys.argv[1:] else rl.data_folder / "detector.dae"), device)
shoot = rl.Module("""
    #include <raylift/gpu/rays/query.h>
    __global__ void shoot(raylift::GeometryView geometry, unsigned* solids, int n) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n) return;
      raylift::Ray ray;
      ray.origin = geometry.from_scene({0, 0, 0});
      sincospif(2.0f * i / n, &ray.direction.y, &ray.direction.x);
      ray.direction.z = 0.1f;
      const raylift::Hit hit = raylift::closest_hit(geometry, ray);
      solids[i] = hit.valid() ? geometry.solid_id(hit.instance, hit.triangle) : 0xFFFFFFFFu;
    }""", device).function("shoot")
hits = geometry.trace([0, 0, 0], numpy.ones((1000, 3)))  # for an array of the device's
solids = hits.solid
shoot(geometry, solids, 1000, grid=8, block=128)
names = geometry.scene.solid_names
print("rays meet", sorted({names[i] for i in solids.numpy().tolist() if i != 0xFFFFFFFF}))
