# SPDX-License-Identifier: Apache-2.0
"""Rays of any shape of array, against brute force in double."""
import unittest

import numpy as np

import raylift as rl
from common import DEVICE, Test, brute_force, cube, detector, raises, sphere, uploaded


class Trace(Test):
    @classmethod
    def setUpClass(cls):
        cls.vertices, cls.triangles = sphere(12, 100)
        cls.vertices = cls.vertices.astype(np.float32)
        cls.geometry = rl.upload(rl.scene_of(cls.vertices, cls.triangles), DEVICE)
        random = np.random.default_rng(3)
        cls.origins = random.uniform(-150, 150, (2000, 3)).astype(np.float32)
        cls.directions = random.normal(size=(2000, 3)).astype(np.float32)
        cls.t, cls.triangle, cls.second = brute_force(cls.vertices, cls.triangles, cls.origins, cls.directions)

    def expect(self, hits, rows=slice(None)):
        t, triangle, second = self.t[rows], self.triangle[rows], self.second[rows]
        found = hits.triangle.numpy().astype(np.int64)
        found[found == 0xFFFFFFFF] = -1
        clear = (triangle < 0) | (second > t + 1e-4)  # no tie between two triangles
        self.assertGreater(clear.sum(), len(t) * 0.4)
        self.same(found[clear], triangle[clear])
        self.same(hits.valid.numpy()[clear], triangle[clear] >= 0)
        hit = clear & (triangle >= 0)
        np.testing.assert_allclose(hits.t.numpy()[hit], t[hit], rtol=2e-5, atol=2e-5)

    def test_other_byte_orders_are_refused(self):
        """Arrays from ROOT and FITS files are often big-endian."""
        geometry = rl.upload(rl.scene_of(*sphere()), DEVICE)
        for wrong in (">f4", ">f8"):
            origins = np.zeros((4, 3), wrong)
            with self.assertRaisesRegex(rl.UsageError, "byte order"):
                geometry.trace(origins, np.ones((4, 3), np.float32))
        with self.assertRaises(rl.UsageError):
            geometry.trace_rays(np.zeros((4, 8), np.int32))
        with self.assertRaises(rl.UsageError):
            geometry.vertices.view("V0")

    def test_meets_what_brute_force_says(self):
        hits = self.geometry.trace(self.origins, self.directions)
        self.expect(hits)
        self.assertEqual(len(hits), 2000)
        inside = (np.linalg.norm(self.origins, axis=1) < 90) & (self.triangle >= 0)
        self.assertTrue(hits.from_inside.numpy()[inside].all())
        self.assertTrue(np.isinf(hits.t.numpy()[self.triangle < 0]).all())
        self.same(hits.solid.numpy(), np.where(hits.valid.numpy(), 0, 0xFFFFFFFF))
        self.same(hits.instance.numpy(), hits.solid.numpy())
        self.same(hits.material_outside.numpy(), np.full(2000, 0xFFFF))
        # The point by barycentric coordinates is the point on the ray.
        uv, hit = hits.uv.numpy(), hits.valid.numpy()
        a, b, c = (self.vertices[self.triangles[hits.triangle.numpy()[hit]][:, k]] for k in range(3))
        u, v = uv[hit, :1], uv[hit, 1:]
        np.testing.assert_allclose((1 - u - v) * a + u * b + v * c,
                                   self.origins[hit] + hits.t.numpy()[hit, None] * self.directions[hit], atol=2e-3)

    def test_takes_any_type_stride_and_shape(self):
        whole = np.zeros((2000, 7))
        whole[:, 1:4], whole[:, 4:7] = self.origins, self.directions
        self.expect(self.geometry.trace(whole[:, 1:4], whole[:, 4:7]))
        self.expect(self.geometry.trace(np.asfortranarray(self.origins), self.directions[:, :]))
        self.expect(self.geometry.trace(self.origins[::-1], self.directions[::-1]), slice(None, None, -1))
        self.expect(self.geometry.trace(self.origins.tolist(), self.directions.astype(float)))
        one = self.geometry.trace(self.origins[7], self.directions)
        self.same(one.t.numpy()[7], self.geometry.trace(self.origins, self.directions).t.numpy()[7])
        self.assertEqual(len(self.geometry.trace([0, 0, 0], [0, 0, 1])), 1)
        empty = self.geometry.trace(np.zeros((0, 3)), np.zeros((0, 3)))
        self.assertEqual((len(empty), empty.t.numpy().shape, empty.solid.numpy().shape), (0, (0,), (0,)))

    def test_takes_packed_rays(self):
        rays = np.zeros(2000, rl.ray_dtype)
        rays["origin"], rays["direction"] = self.origins - np.array(self.geometry.origin), self.directions
        rays["tmax"] = np.inf
        expected = self.geometry.trace(self.origins, self.directions).numpy()
        self.same(self.geometry.trace_rays(rays).numpy(), expected)
        self.same(self.geometry.trace_rays(rays.view(np.float32).reshape(-1, 8)).numpy(), expected)

    @unittest.skipUnless(DEVICE == "host", "NumPy's memory is the host device's")
    def test_fills_the_callers_array(self):
        expected = self.geometry.trace(self.origins, self.directions).numpy()
        for out in (np.zeros(2000, rl.hit_dtype), np.zeros((2000, 8), np.float32)):
            hits = self.geometry.trace(self.origins, self.directions, out=out)
            self.assertEqual(hits.array.ptr, out.ctypes.data)
            self.same(out.view(rl.hit_dtype).ravel(), expected)
        read_only = np.zeros(2000, rl.hit_dtype)
        read_only.flags.writeable = False
        for wrong in (np.zeros(1999, rl.hit_dtype), np.zeros((2000, 7), np.float32), read_only, [1, 2],
                      np.zeros((4000, 8), np.float32)[::2]):
            with raises("usage"):
                self.geometry.trace(self.origins, self.directions, out=wrong)

    def test_keeps_between_tmin_and_tmax(self):
        geometry = rl.upload(rl.scene_of(*cube(10)), DEVICE)
        directions = np.array([[0.1, 0.2, 1.0]])
        first, second = geometry.trace([0, 0, -30], directions).t.numpy()[0], None
        self.assertAlmostEqual(first, 20, places=4)
        second = geometry.trace([0, 0, -30], directions, tmin=25).t.numpy()[0]
        self.assertAlmostEqual(second, 40, places=4)
        beyond = geometry.trace([0, 0, -30], directions, tmin=25, tmax=35)
        self.assertFalse(beyond.valid.numpy()[0])
        self.assertEqual(beyond.t.numpy()[0], 35)

    def test_subtracts_the_origin_in_double(self):
        far = np.array([4e9, -2e9, 1e9])
        vertices, triangles = cube(10)
        scene = rl.Scene()
        transform = np.eye(4)
        transform[:3, 3] = far
        scene.add_solid(scene.add_mesh(vertices, triangles), transform)
        geometry = rl.upload(scene, DEVICE)
        hits = geometry.trace(far + [0.25, 0.5, -30], [[0, 0, 1.0]])
        self.assertAlmostEqual(hits.t.numpy()[0], 20, places=3)

    def test_says_what_is_wrong(self):
        geometry = self.geometry
        ones = np.ones((5, 3))
        for origins, directions in ((np.ones((4, 3)), ones), (np.ones((5, 2)), ones), (np.ones((5, 3), complex), ones),
                                    (np.ones((5, 3, 1)), ones), ("here", ones), (object(), ones)):
            with raises("usage"):
                geometry.trace(origins, directions)
        with raises("usage"):
            geometry.trace_rays(np.ones((5, 7), np.float32))
        with raises("usage"):
            geometry.trace(ones, ones, stream="mine")
        without = rl.upload(rl.scene_of(*cube()), DEVICE, bvh=False)
        with raises("usage") as caught:
            without.trace(ones, ones)
        self.assertIn("BVH", str(caught.error))

    def test_solids_move_and_hide(self):
        scene = rl.Scene()
        mesh = scene.add_mesh(*cube(10))
        for x in (0, 100):
            transform = np.eye(4)
            transform[0, 3] = x
            scene.add_solid(mesh, transform)
        geometry = rl.upload(scene, DEVICE)
        ray = ([0.5, 0.25, -50], [[0, 0, 1.0]])
        self.assertEqual(geometry.trace(*ray).solid.numpy()[0], 0)
        geometry.set_transforms([0, 1], scene.transforms[::-1])
        self.assertEqual(geometry.trace(*ray).solid.numpy()[0], 1)
        geometry.set_visible([1], False)
        self.assertFalse(geometry.trace(*ray).valid.numpy()[0])
        geometry.set_visible([1], True)
        self.assertAlmostEqual(geometry.trace(*ray).t.numpy()[0], 40, places=4)
        with raises("usage"):
            geometry.set_transforms([0], scene.transforms)
        with raises("usage"):
            geometry.set_transforms([7], scene.transforms[:1])

    def test_finds_solids_and_materials(self):
        scene, geometry = detector(), uploaded()
        directions = np.random.default_rng(1).normal(size=(5000, 3))
        hits = geometry.trace(np.zeros(3), directions)
        names = scene.solid_names
        self.assertTrue(all(names[i].startswith("Target") for i in set(hits.solid.numpy().tolist())))
        self.same(hits.material_inside.numpy(), scene.inside[hits.solid.numpy()])
        self.same(hits.material_outside.numpy(), scene.outside[hits.solid.numpy()])
        flat = rl.upload(scene, DEVICE, flatten=True).trace(np.zeros(3), directions)
        self.same(flat.solid.numpy(), hits.solid.numpy())
        self.same(flat.material_outside.numpy(), hits.material_outside.numpy())
        np.testing.assert_allclose(flat.t.numpy(), hits.t.numpy(), rtol=1e-4)


if __name__ == "__main__":
    unittest.main()
