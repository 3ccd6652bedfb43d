# SPDX-License-Identifier: Apache-2.0
"""Arrays go to NumPy without a copy, whoever keeps them."""
import copy
import gc
import pickle
import unittest

import numpy as np

import raylift as rl
from common import DEVICE, Test, cube, detector, uploaded


@unittest.skipUnless(DEVICE == "host", "NumPy reads the host device's memory alone")
class Arrays(Test):
    def test_share_their_memory_with_numpy(self):
        geometry = uploaded()
        self.assertGreater(len(geometry.arrays), 15)
        for name, array in geometry.arrays.items():
            values = np.asarray(array)
            self.assertEqual(values.shape, array.shape)
            self.assertEqual(values.dtype, array.dtype)
            if array.size:
                self.assertEqual(values.__array_interface__["data"][0], array.ptr, name)
            self.same(values, array.numpy())

    def test_go_by_dlpack_without_a_copy(self):
        geometry = uploaded()
        self.assertEqual(geometry.vertices.__dlpack_device__(), (1, 0))
        for array in (geometry.vertices, geometry.triangles, geometry.optical_points, geometry.instances["to_world"]):
            values = np.from_dlpack(array)
            self.assertEqual(values.ctypes.data, array.ptr)
            self.assertEqual(values.strides, array.strides)
            self.same(values, array)
        with self.assertRaisesRegex(BufferError, "field"):
            np.from_dlpack(geometry.instances)
        with self.assertRaisesRegex(BufferError, "copy"):
            geometry.vertices.__dlpack__(copy=True)
        with self.assertRaisesRegex(BufferError, "host"):
            geometry.vertices.__dlpack__(dl_device=(2, 0))
        self.assertIn('"dltensor"', repr(geometry.vertices.__dlpack__()))
        self.assertIn('"dltensor_versioned"', repr(geometry.vertices.__dlpack__(max_version=(1, 0))))

    def test_hold_what_the_scene_says(self):
        scene, geometry = detector(), uploaded()
        self.same(geometry.vertices, np.concatenate([mesh.vertices for mesh in scene.meshes]))
        self.same(geometry.instances["mesh"], scene.solid_meshes)
        self.same(geometry.solids["mother"].view("int32"), scene.mothers)
        np.testing.assert_allclose(geometry.instances["to_world"], scene.transforms, rtol=1e-6, atol=1e-3)
        self.assertEqual(len(geometry.wavelengths), 0)
        water = scene.optics.materials["Water"].table("ABSLENGTH")
        material = scene.materials.index(next(name for name in scene.materials if name.startswith("Water")))
        rows = geometry.optical_buckets.numpy()[material]
        table = geometry.optical_rows.numpy()[rows[0]:rows[-1] + 2]
        # Index, group velocity, absorption and scattering length.
        np.testing.assert_allclose(table["v"][:, 2], water.value(table["wavelength"]), rtol=1e-4)
        sampled = rl.upload(scene, DEVICE, wavelengths=np.arange(60, 1000, 5))
        self.same(sampled.wavelengths, np.arange(60, 1000, 5))
        rows = sampled.optical_buckets.numpy()[material]
        np.testing.assert_allclose(sampled.optical_rows.numpy()["v"][rows[0]:rows[-1] + 2, 2],
                                   water.value(sampled.wavelengths), rtol=1e-5)

    def test_compute_as_numpy_does(self):
        hits = self.some_hits()
        t, valid = hits.t.numpy(), hits.valid.numpy()
        self.assertTrue(0 < valid.sum() < len(valid))
        for ours, numpys in ((hits.t == t, t == t), (hits.t < 1e6, t < 1e6), (1e6 > hits.t, 1e6 > t), (hits.t + t, t + t),
                             (2 * hits.t, 2 * t), (~hits.valid, ~valid), (-hits.t, -t), (hits.t != hits.t, t != t)):
            self.assertIsInstance(ours, np.ndarray)
            self.same(ours, numpys)
        self.same(hits.t[hits.valid], t[valid])
        self.same(hits.t[valid], t[valid])
        self.same(hits.t[[2, 0]], t[[2, 0]])
        self.assertEqual(hits.t[0], t[0])
        self.assertEqual(hits.valid.sum(), valid.sum())
        self.same([x for x in hits.t], t)
        with self.assertRaises(ValueError):  # the truth of many is none
            bool(hits.valid)
        with self.assertRaises(TypeError):
            hash(hits.t)
        hits.t[0] = 7
        self.assertEqual(hits.t.numpy()[0], 7)
        moved = hits.t
        moved += 1
        self.assertIs(type(moved), rl.Array)
        self.assertEqual(hits.t[0], 8)
        with self.assertRaises(ValueError):  # read-only
            uploaded().vertices[0] = 0
        with self.assertRaises(AttributeError):
            hits.t.no_such_method()

    def some_hits(self):
        origins = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 5]], float)
        directions = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
        return rl.upload(rl.scene_of(*cube()), DEVICE).trace(origins, directions)

    def test_are_pickled_as_numpy_arrays(self):
        hits = self.some_hits()
        loaded = pickle.loads(pickle.dumps(hits))
        self.same(loaded.numpy(), hits.numpy())
        for name in ("t", "triangle", "uv", "normal", "valid", "from_inside", "instance", "solid", "material_inside",
                     "material_outside"):
            self.same(getattr(loaded, name), getattr(hits, name))
        self.assertEqual(repr(loaded), "<raylift.Hits of 3 rays>")
        self.assertFalse(hasattr(loaded, "geometry"))
        self.same(copy.deepcopy(hits).t, hits.t)
        self.assertIs(copy.copy(hits).geometry, hits.geometry)
        self.assertIsInstance(pickle.loads(pickle.dumps(hits.t)), np.ndarray)

    def test_keep_the_geometry(self):
        geometry = rl.upload(rl.scene_of(*cube()), DEVICE)
        values = np.asarray(geometry.vertices)
        shared = np.from_dlpack(geometry.triangles)
        vertices, triangles = values.copy(), shared.copy()
        del geometry
        gc.collect()
        self.same(values, vertices)
        self.same(shared, triangles)

    def test_are_read_only_where_rays_rely_on_them(self):
        geometry = uploaded()
        self.assertFalse(np.asarray(geometry.vertices).flags.writeable)
        self.assertFalse(np.asarray(geometry.nodes).flags.writeable)
        self.assertTrue(np.asarray(geometry.optical_points).flags.writeable)
        self.assertFalse(detector().meshes[0].vertices.flags.writeable)

    def test_have_views_fields_and_slices(self):
        instances = uploaded().instances
        words = instances.view("uint32")
        self.assertEqual(words.shape, (906, 28))
        self.same(words, np.asarray(instances).view(np.uint32).reshape(906, 28))
        self.assertEqual(words.ptr, instances.ptr)
        self.assertEqual(words.view(instances.dtype).shape, (906,))
        self.assertEqual(instances[10:20:3].shape, (4,))
        self.same(instances[10:20:3]["mesh"], np.asarray(instances)["mesh"][10:20:3])
        self.assertEqual(instances["to_world"].shape, (906, 3, 4))
        self.same(instances[::-1]["mesh"], np.asarray(instances)["mesh"][::-1])
        with self.assertRaises(KeyError):
            instances["nothing"]
        with self.assertRaises(rl.UsageError):
            instances[::2].view("uint32")
        with self.assertRaises(rl.UsageError):
            uploaded().vertices.view("V5")

    def test_say_which_they_are(self):
        geometry = uploaded()
        self.assertIs(type(geometry.vertices), rl.Array)
        self.assertIn("(5786, 3) float32 on host", repr(geometry.vertices))
        self.assertFalse(hasattr(geometry, "solid_ids"))
        self.assertFalse(hasattr(geometry.vertices, "__cuda_array_interface__"))
        with self.assertRaisesRegex(AttributeError, "no array"):
            geometry.solid_ids
        with self.assertRaises(KeyError):
            geometry.array("solid_ids")

    def test_of_a_budget_are_mapped_or_split(self):
        vertices, triangles = np.random.default_rng(1).normal(size=(400_000, 3)), np.arange(399_999).reshape(-1, 3)
        geometry = rl.upload(rl.scene_of(vertices, triangles), rl.Device("host", host_budget=1 << 30), budget=6e6,
                             reserve=0, bvh=False)
        where = {array["name"]: array["where"] for array in geometry.report["arrays"]}
        self.assertNotEqual(where["vertices"], "device")
        self.same(geometry.vertices, vertices.astype(np.float32))
        self.assertEqual(np.asarray(geometry.vertices).ctypes.data, geometry.vertices.ptr)

    def test_colors_are_set(self):
        geometry = rl.upload(detector(), DEVICE)
        geometry.color_solids([3, 5], 0x00FF0000)
        colors = np.asarray(geometry.solid_colors)
        self.same(colors[[3, 4, 5]], [0x00FF0000, 0xFFFFFFFF, 0x00FF0000])
        geometry.set_colors(np.arange(906))
        self.same(colors, np.arange(906))
        geometry.reset_colors()
        self.same(colors, np.full(906, 0xFFFFFFFF))
        with self.assertRaises(rl.UsageError):
            geometry.set_colors([1, 2])


if __name__ == "__main__":
    unittest.main()
