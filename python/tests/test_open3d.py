# SPDX-License-Identifier: Apache-2.0
"""Open3D's ray casting; against Open3D itself where that is installed."""
import importlib.util
import types
import unittest

import numpy as np

import raylift as rl
from common import DEVICE, Test, cube, sphere
from raylift.open3d import RaycastingScene, cast_rays


def rays_at(count, seed=1):
    random = np.random.default_rng(seed)
    return np.concatenate([random.uniform(-30, 30, (count, 3)), random.normal(size=(count, 3))], 1).astype(np.float32)


class Casting(Test):
    def setUp(self):
        self.scene = RaycastingScene(device=DEVICE)
        self.assertEqual(self.scene.add_triangles(*cube(5)), 0)
        ball = sphere(12, 3)
        self.assertEqual(self.scene.add_triangles(types.SimpleNamespace(vertices=ball[0] + [20, 0, 0], faces=ball[1])), 1)

    def test_has_open3ds_keys_shapes_and_types(self):
        rays = rays_at(60).reshape(3, 4, 5, 6)
        result = self.scene.cast_rays(rays)
        expected = {"t_hit": ((), np.float32), "geometry_ids": ((), np.uint32), "primitive_ids": ((), np.uint32),
                    "primitive_uvs": ((2,), np.float32), "primitive_normals": ((3,), np.float32)}
        self.assertEqual({name: (array.shape[3:], array.dtype) for name, array in result.items()}, expected)
        self.assertTrue(all(array.shape[:3] == (3, 4, 5) for array in result.values()))

    def test_meets_each_geometry(self):
        rays = np.array([[0, 0, -30, 0.01, 0.02, 1], [20, 0.1, -30, 0, 0, 2], [0, 0, -30, 0, 0, -1]], np.float32)
        result = self.scene.cast_rays(rays)
        self.same(result["geometry_ids"], [0, 1, RaycastingScene.INVALID_ID])
        self.assertEqual(result["primitive_ids"][2], RaycastingScene.INVALID_ID)
        np.testing.assert_allclose(result["t_hit"][[0, 2]], [25, np.inf], rtol=1e-6)
        self.assertLess(abs(result["t_hit"][1] - 13.5), 0.1)
        np.testing.assert_allclose(result["primitive_normals"][0], [0, 0, -1], atol=1e-6)
        self.assertLess(result["primitive_ids"][1], len(sphere(12)[1]))
        self.same(result["primitive_uvs"][2], [0, 0])

    def test_occlusions_and_counts(self):
        rays = np.array([[[0, 0.3, -30, 0.01, 0.02, 1], [-30, 0.1, 0.2, 1, 0, 0]]], np.float32)
        self.same(self.scene.count_intersections(rays), [[2, 4]])
        self.same(self.scene.test_occlusions(rays), [[True, True]])
        self.same(self.scene.test_occlusions(rays, tfar=20), [[False, False]])
        self.same(self.scene.test_occlusions(rays, tnear=40), [[False, True]])

    def test_takes_a_geometry_too(self):
        geometry = rl.upload(rl.scene_of(*cube(5)), DEVICE)
        result = cast_rays(geometry, rays_at(100))
        self.same(result["geometry_ids"] == 0, np.isfinite(result["t_hit"]))
        with self.assertRaises(rl.UsageError):
            cast_rays(geometry, np.zeros((5, 7), np.float32))

    @unittest.skipUnless(importlib.util.find_spec("open3d"), "Open3D is not installed")
    def test_finds_what_open3d_finds(self):
        import open3d

        theirs = open3d.t.geometry.RaycastingScene()
        ball = sphere(12, 3)
        for vertices, triangles in (cube(5), (ball[0] + [20, 0, 0], ball[1])):
            theirs.add_triangles(open3d.core.Tensor(vertices.astype(np.float32)),
                                 open3d.core.Tensor(triangles.astype(np.uint32)))
        rays = rays_at(3000)
        a, b = self.scene.cast_rays(rays), theirs.cast_rays(open3d.core.Tensor(rays))
        for name in ("geometry_ids", "primitive_ids"):
            self.assertGreater((a[name] == b[name].numpy()).mean(), 0.998)
        same = a["primitive_ids"] == b["primitive_ids"].numpy()
        for name in ("t_hit", "primitive_uvs", "primitive_normals"):
            np.testing.assert_allclose(a[name][same], b[name].numpy()[same], rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    unittest.main()
