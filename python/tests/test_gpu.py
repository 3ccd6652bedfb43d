# SPDX-License-Identifier: Apache-2.0
"""Arrays of CuPy, PyTorch, Numba and JAX on a GPU: without a copy, on their streams. Skips what is not installed."""
import importlib
import os
import unittest

import numpy as np

import raylift as rl
from common import Test, detector, sphere


def device():
    """The first GPU, or None."""
    return next((d for d in rl.Device.all() if not d.is_host), None)


def library(name):
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise unittest.SkipTest(f"no {name}: {error}") from None


@unittest.skipUnless(device(), "there is no GPU that raylift can use")
class OnGpu(Test):
    @classmethod
    def setUpClass(cls):
        cls.scene = rl.scene_of(*sphere(40, 100))
        cls.geometry = rl.upload(cls.scene, device())
        cls.on_host = rl.upload(cls.scene, "host")
        random = np.random.default_rng(5)
        cls.origins = random.uniform(-50, 50, (100_000, 3)).astype(np.float32)
        cls.directions = random.normal(size=(100_000, 3)).astype(np.float32)
        cls.expected = cls.on_host.trace(cls.origins, cls.directions).numpy()

    def expect(self, hits):
        self.assertEqual(hits.numpy().tobytes(), self.expected.tobytes())

    def test_numpy_is_copied(self):
        hits = self.geometry.trace(self.origins, self.directions)
        self.expect(hits)
        self.same(hits.uv.numpy(), self.expected["uv"])
        self.same(hits.normal[::3].numpy(), self.expected["normal"][::3])
        self.assertTrue(hits.from_inside.numpy().all())
        with self.assertRaisesRegex(TypeError, "numpy"):
            np.asarray(hits.t)
        self.assertFalse(hasattr(hits.t, "__array_interface__"))
        with self.assertRaises(rl.UsageError):
            self.geometry.trace(self.origins, self.directions, out=np.zeros(100_000, rl.hit_dtype))

    def test_out_is_not_reused_while_former_hits_are_unpacked(self):
        cupy = library("cupy")
        origins, directions = cupy.asarray(self.origins), cupy.asarray(self.directions)
        away = cupy.full_like(origins, 1e6)
        out = cupy.empty((len(self.origins), 8), cupy.float32)
        for _ in range(50):
            hits = self.geometry.trace(origins, directions, out=out)
            solids = hits.solid
            self.geometry.trace(away, directions, out=out, stream=cupy.cuda.get_current_stream())
            self.assertEqual(cupy.asnumpy(cupy.asarray(solids)).max(), 0)

    @unittest.skipUnless(len(rl.Device.all()) > 2, "there are not two GPUs")
    def test_arrays_of_another_gpu_are_refused(self):
        cupy = library("cupy")

        class InterfaceAlone:
            def __init__(self, array):
                self.array, self.__cuda_array_interface__ = array, array.__cuda_array_interface__

        with cupy.cuda.Device(1):
            other = InterfaceAlone(cupy.asarray(self.origins))
        with self.assertRaisesRegex(rl.UsageError, "is on cuda:1"):
            self.geometry.trace(other, self.directions)

    def test_photons_have_the_hosts_bytes(self):
        results = [rl.propagate(rl.upload(detector(), d), "point:0,0,0", 50_000, seed=2, finals=True)
                   for d in (device(), "host")]
        self.assertEqual(results[0].finals.array.tobytes(), results[1].finals.array.tobytes())

    def test_split_and_mapped_arrays_are_the_devices(self):
        cupy = library("cupy")
        for policy in ("auto", "mapped"):
            geometry = rl.upload(self.scene, device(), policy=policy, budget=2e5, reserve=0)
            self.assertGreater(geometry.report["host_bytes"], 0)
            vertices = cupy.asarray(geometry.vertices)
            self.assertEqual(vertices.data.ptr, geometry.vertices.ptr)
            self.same(cupy.asnumpy(vertices), self.on_host.vertices.numpy())
            self.expect(geometry.trace(self.origins, self.directions))

    def test_cupy(self):
        cupy = library("cupy")
        vertices = self.geometry.vertices
        for taken in (cupy.asarray(vertices), cupy.from_dlpack(vertices)):
            self.assertEqual((taken.data.ptr, taken.shape), (vertices.ptr, vertices.shape))
            self.same(taken.get(), self.on_host.vertices.numpy())
        with cupy.cuda.Stream(non_blocking=True):
            origins, directions = cupy.asarray(self.origins), cupy.asarray(self.directions)
            out = cupy.empty((len(origins), 8), cupy.float32)
            hits = self.geometry.trace(origins * 1, directions * 1, out=out)
            self.assertEqual(hits.array.ptr, out.data.ptr)
            self.assertEqual(out.get().tobytes(), self.expected.tobytes())
            self.expect(self.geometry.trace(cupy.asfortranarray(origins), directions))
            self.same(cupy.asarray(hits.t).get(), self.expected["t"])
            self.same(cupy.from_dlpack(hits.solid).get(), np.zeros(len(origins)))
            rays = cupy.zeros((len(origins), 8), cupy.float32)
            rays[:, :3], rays[:, 4:7] = origins - cupy.asarray(self.geometry.origin, cupy.float32), directions
            rays[:, 7] = cupy.inf
            self.assertLess((cupy.asarray(self.geometry.trace_rays(rays).t) - out[:, 0]).max(), 1e-3)

    def test_pytorch(self):
        torch = library("torch")
        vertices = self.geometry.vertices
        for taken in (torch.from_dlpack(vertices), torch.as_tensor(vertices, device="cuda")):
            self.assertEqual((taken.data_ptr(), tuple(taken.shape)), (vertices.ptr, vertices.shape))
            self.same(taken.cpu().numpy(), self.on_host.vertices.numpy())
        with torch.cuda.stream(torch.cuda.Stream()):
            origins, directions = torch.tensor(self.origins).cuda(), torch.tensor(self.directions).cuda()
            out = torch.empty((len(origins), 8), device="cuda")
            hits = self.geometry.trace(origins * 1, directions * 1, out=out)
            self.assertEqual(hits.array.ptr, out.data_ptr())
            self.assertEqual(out.cpu().numpy().tobytes(), self.expected.tobytes())
            hits = self.geometry.trace(origins * 1, directions * 1)
            self.same(torch.from_dlpack(hits.t).cpu().numpy(), self.expected["t"])
            self.same(torch.from_dlpack(hits.normal).cpu().numpy(), self.expected["normal"])
            self.assertEqual(torch.from_dlpack(hits.t).data_ptr(), hits.t.ptr)
        on_default = torch.from_dlpack(self.geometry.trace(origins, directions).valid)
        self.assertTrue(bool(on_default.all()))

    def test_numba(self):
        cuda = library("numba.cuda")
        vertices = self.geometry.vertices
        taken = cuda.as_cuda_array(vertices)
        self.assertEqual(taken.device_ctypes_pointer.value, vertices.ptr)
        self.same(taken.copy_to_host(), self.on_host.vertices.numpy())
        stream = cuda.stream()
        origins, directions = (cuda.to_device(a, stream=stream) for a in (self.origins, self.directions))
        hits = self.geometry.trace(origins, directions, stream=stream)
        self.expect(hits)
        self.same(cuda.as_cuda_array(hits.t).copy_to_host(), self.expected["t"])

    def test_jax(self):
        jax = library("jax")
        if not any(d.platform == "gpu" for d in jax.devices()):
            self.skipTest("jax has no GPU here")
        vertices = self.geometry.vertices
        taken = jax.dlpack.from_dlpack(vertices)
        self.assertEqual((taken.unsafe_buffer_pointer(), taken.shape), (vertices.ptr, vertices.shape))
        self.same(np.asarray(taken), self.on_host.vertices.numpy())
        hits = self.geometry.trace(jax.numpy.asarray(self.origins), jax.numpy.asarray(self.directions))
        self.expect(hits)
        words = jax.dlpack.from_dlpack(hits.array.view("float32"))
        self.assertEqual(words.unsafe_buffer_pointer(), hits.array.ptr)
        self.same(np.asarray(words)[:, 0], self.expected["t"])

    def test_arrays_outlive_what_made_them(self):
        cupy = library("cupy")
        vertices = cupy.from_dlpack(rl.upload(self.scene, device()).vertices)
        t = cupy.asarray(self.geometry.trace(cupy.asarray(self.origins), cupy.asarray(self.directions)).t)
        self.same(vertices.get(), self.on_host.vertices.numpy())
        self.same(t.get(), self.expected["t"])

    def test_kernels_take_the_view(self):
        cupy = library("cupy")
        view = np.frombuffer(self.geometry.view, np.uint64)
        kernel = cupy.RawKernel("""
            struct View { const float* vertices; unsigned long long rest[REST]; };
            extern "C" __global__ void highest(const View view, unsigned count, int* out) {
              const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
              if (i < count) atomicMax(out, (int)view.vertices[3 * i + 2]);
            }""".replace("REST", str(len(view) - 1)), "highest")
        out = cupy.zeros(1, cupy.int32)
        count = self.geometry.vertices.shape[0]
        by_value = np.frombuffer(self.geometry.view, f"V{len(self.geometry.view)}").reshape(())
        kernel((count // 128 + 1,), (128,), (by_value, np.uint32(count), out))
        self.assertEqual(int(out[0]), int(self.on_host.vertices.numpy()[:, 2].max()))

    def test_device_rays_on_a_host_geometry_are_refused(self):
        cupy = library("cupy")
        with self.assertRaises(rl.UsageError):
            self.on_host.trace(cupy.asarray(self.origins), self.directions)


if __name__ == "__main__":
    unittest.main()
