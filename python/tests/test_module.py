# SPDX-License-Identifier: Apache-2.0
"""Kernels compiled at run time, with arrays of the device and geometries as arguments."""
import unittest

import numpy as np

import raylift as rl
from common import Test, raises, sphere
from test_gpu import device, library

SOURCE = """
#include <raylift/gpu/rays/query.h>
__global__ void distances(raylift::GeometryView geometry, const raylift::Ray* rays, float* t, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) t[i] = raylift::closest_hit(geometry, rays[i]).t;
}
__global__ void scale(float* a, float by, double more, unsigned char n) {
  if (threadIdx.x < n) a[threadIdx.x] = a[threadIdx.x] * by + more;
}
"""


class Anywhere(Test):
    def test_the_host_device_compiles_nothing(self):
        with raises("device"):
            rl.Module(SOURCE, "host")


@unittest.skipUnless(device(), "there is no GPU that raylift can use")
class Modules(Test):
    @classmethod
    def setUpClass(cls):
        cls.module = rl.Module(SOURCE, device())

    def test_know_their_kernels(self):
        self.assertEqual(sorted(self.module.functions), ["distances", "scale"])
        self.assertEqual(self.module.function("scale").parameters, [8, 4, 8, 1])
        self.assertTrue(rl.Module(SOURCE, device()).cached)
        with raises("usage"):
            self.module.function("teapot")
        with raises("malformed") as caught:
            rl.Module("__global__ void broken() { return 1 }", device(), name="mine.cu", cache=False)
        self.assertIn("mine.cu", str(caught.error))

    def test_trace_what_a_geometry_does(self):
        geometry = rl.upload(rl.scene_of(*sphere(30, 100)), device())
        rays = np.zeros((5000, 8), np.float32)
        rays[:, 4:7] = np.random.default_rng(1).normal(size=(5000, 3))
        rays[:, 7] = np.inf
        hits = geometry.trace_rays(rays)
        scratch = geometry.trace_rays(rays).array.view("float32")  # memory of the device, to be overwritten
        cupy = library("cupy")
        self.module.function("distances")(geometry, cupy.asarray(rays), scratch, 5000, grid=40, block=128)
        self.assertEqual(scratch.numpy().tobytes()[:20_000], hits.t.numpy().tobytes())

    def test_take_numbers_of_the_parameters_size(self):
        cupy = library("cupy")
        scale = self.module.function("scale")
        a = cupy.arange(8, dtype=cupy.float32)
        with cupy.cuda.Stream(non_blocking=True) as stream:
            scale(a, 2.0, np.float64(0.5), 4, grid=1, block=(8, 1, 1), stream=stream)
            self.same(a.get(), [0.5, 2.5, 4.5, 6.5, 4, 5, 6, 7])
        for wrong in ((a, 2.0, 0.5), (a, np.float64(2), 0.5, 4), (a.get(), 2.0, 0.5, 4), (a, 2.0, 0.5, "four")):
            with raises("usage"):
                scale(*wrong, grid=1, block=8)
        with self.assertRaises(OverflowError):
            scale(a, 2.0, 0.5, 256, grid=1, block=8)


if __name__ == "__main__":
    unittest.main()
