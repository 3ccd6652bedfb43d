# SPDX-License-Identifier: Apache-2.0
"""trimesh's ray interface, with what its own tests expect; against trimesh's own engine where that is installed."""
import importlib.util
import types
import unittest

import numpy as np

from common import DEVICE, Test, cube, sphere
from raylift.trimesh import RayMeshIntersector


def mesh_of(vertices, faces):
    return types.SimpleNamespace(vertices=vertices, faces=faces)


def intersector(vertices, faces):
    return RayMeshIntersector(mesh_of(vertices, faces), device=DEVICE)


class Expectations(Test):
    def setUp(self):
        self.box = intersector(*cube(0.5))
        self.ball = intersector(*sphere(24, 10.0))

    def test_rays_from_the_middle_through_vertices_hit_once(self):
        for shape in (self.box, self.ball):
            vectors = np.asarray(shape.mesh.vertices)
            origins = np.zeros_like(vectors)
            self.assertTrue(shape.intersects_any(origins, vectors).all())
            locations, index_ray, index_tri = shape.intersects_location(origins, vectors)
            self.same(np.bincount(index_ray, minlength=len(vectors)), np.ones(len(vectors)))
            self.assertEqual((locations.shape, index_tri.shape), ((len(vectors), 3), (len(vectors),)))
            np.testing.assert_allclose(locations, vectors[index_ray], atol=1e-5)

    def test_rays_through_a_box_hit_twice(self):
        grid = np.linspace(-0.45, 0.45, 11)
        origins = np.array([[x, y, 10.0] for x in grid for y in grid])
        directions = np.tile([0.0, 0.0, -1.0], (len(origins), 1))
        index_tri, index_ray = self.box.intersects_id(origins, directions)
        self.same(np.bincount(index_ray), np.full(len(origins), 2))
        index_tri, index_ray, locations = self.box.intersects_id(origins, directions, return_locations=True)
        np.testing.assert_allclose(locations[0::2, 2], 0.5)  # in the order along the ray
        np.testing.assert_allclose(locations[1::2, 2], -0.5)
        first, rays = self.box.intersects_id(origins, directions, multiple_hits=False)
        self.same(rays, np.arange(len(origins)))
        self.same(first, index_tri[0::2])
        self.same(self.box.intersects_first(origins, directions), first)
        self.same(self.box.intersects_id(origins, directions, max_hits=1)[1], rays)

    def test_every_face_of_shapes_that_touch_is_a_hit(self):
        vertices, faces = cube(0.5)
        row = intersector(np.concatenate([vertices + [k, 0, 0] for k in range(30)]),
                          np.concatenate([faces + k * len(vertices) for k in range(30)]))
        locations, index_ray, index_tri = row.intersects_location([[-2.0, 0.1, 0.2]], [[1, 0, 0]])
        np.testing.assert_allclose(locations[:, 0], np.arange(1, 61) // 2 - 0.5)
        self.assertEqual(len(set(index_tri.tolist())), 60)
        self.assertEqual(len(row.intersects_id([[-2.0, 0.1, 0.2]], [[1, 0, 0]], max_hits=20)[0]), 20)
        points = np.random.default_rng(4).uniform([-2, -1, -1], [32, 1, 1], (4000, 3))
        points[::2, 0] = np.round(points[::2, 0]) + 0.25
        inside = (np.abs(points[:, 1:]) < 0.5).all(axis=1) & (points[:, 0] > -0.5) & (points[:, 0] < 29.5)
        self.same(row.contains_points(points), inside)

    def test_shapes_far_from_the_origin_are_hit_as_those_at_it(self):
        vertices, faces = sphere(24, 1.0)
        far = np.array([1e6, -2e6, 3e6])
        random = np.random.default_rng(5)
        origins, directions = random.uniform(-2, 2, (4000, 3)), random.normal(size=(4000, 3))
        origins = np.round(origins * 8) / 8  # exact there too
        self.same(intersector(vertices + far, faces).intersects_first(origins + far, directions),
                  intersector(vertices, faces).intersects_first(origins, directions))

    def test_rays_that_miss_give_nothing(self):
        origins, directions = np.array([[5.0, 5, 5], [0, 0, -10]]), np.array([[1.0, 0, 0], [0, 0, -1]])
        self.assertEqual(self.box.intersects_first(origins, directions).tolist(), [-1, -1])
        self.assertFalse(self.box.intersects_any(origins, directions).any())
        locations, index_ray, index_tri = self.box.intersects_location(origins, directions)
        self.assertEqual((locations.shape, index_ray.shape, index_tri.shape), ((0, 3), (0,), (0,)))
        for result in (self.box.intersects_id(np.zeros((0, 3)), np.zeros((0, 3))),):
            self.assertEqual([len(part) for part in result], [0, 0])
        self.assertFalse(self.box.intersects_any([[0, 0, 0]], [[0, 0, 0]]).any())
        with self.assertRaises(ValueError):
            self.box.intersects_any(np.zeros((2, 3)), np.zeros((3, 3)))

    def test_types_are_trimeshs(self):
        locations, index_ray, index_tri = self.ball.intersects_location([[0, 0, 20]], [[0, 0, -1]])
        self.assertEqual((locations.dtype, index_ray.dtype.kind, index_tri.dtype.kind), (np.float64, "i", "i"))
        self.assertEqual(self.ball.intersects_any([[0, 0, 20]], [[0, 0, -1]]).dtype, bool)

    def test_contains_points(self):
        points = np.random.default_rng(1).uniform(-1, 1, (3000, 3))
        self.same(self.box.contains_points(points), (np.abs(points) < 0.5).all(axis=1))
        points *= 15
        radius = np.linalg.norm(points, axis=1)
        clear = (radius < 9.8) | (radius > 10)
        self.same(self.ball.contains_points(points)[clear], (radius < 9.9)[clear])
        self.same(self.box.contains_points([[0, 0, 0]]), [True])
        self.same(intersector(np.zeros((0, 3)), np.zeros((0, 3), int)).contains_points(points), np.zeros(3000, bool))

    def test_locations_lie_on_their_triangles(self):
        origins = np.random.default_rng(2).normal(size=(500, 3))
        origins *= 20 / np.linalg.norm(origins, axis=1)[:, None]
        locations, index_ray, index_tri = self.ball.intersects_location(origins, -origins)
        self.assertTrue((np.bincount(index_ray) == 2).all())
        corners = np.asarray(self.ball.mesh.vertices)[np.asarray(self.ball.mesh.faces)[index_tri]]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        off = np.einsum("ij,ij->i", normals, locations - corners[:, 0]) / np.linalg.norm(normals, axis=1)
        self.assertLess(np.abs(off).max(), 1e-10)
        lines = np.cross(locations - origins[index_ray], origins[index_ray])
        self.assertLess(np.abs(lines).max() / 400, 1e-9)


@unittest.skipUnless(importlib.util.find_spec("trimesh"), "trimesh is not installed")
class BesideTrimesh(Test):
    def test_finds_what_its_own_engine_finds(self):
        import trimesh
        from trimesh.ray import ray_triangle

        mesh = trimesh.creation.icosphere(subdivisions=3, radius=10)
        ours, theirs = RayMeshIntersector(mesh, device=DEVICE), ray_triangle.RayMeshIntersector(mesh)
        random = np.random.default_rng(3)
        origins, directions = random.uniform(-15, 15, (500, 3)), random.normal(size=(500, 3))
        self.same(ours.intersects_any(origins, directions), theirs.intersects_any(origins, directions))
        self.same(ours.intersects_first(origins, directions), theirs.intersects_first(origins, directions))
        a, b = ours.intersects_location(origins, directions), theirs.intersects_location(origins, directions)
        order = np.lexsort((b[2], b[1]))
        mine = np.lexsort((a[2], a[1]))
        self.same(a[1][mine], b[1][order])
        self.same(a[2][mine], b[2][order])
        np.testing.assert_allclose(a[0][mine], b[0][order], atol=1e-8)
        mesh.ray = ours
        points = random.uniform(-12, 12, (500, 3))
        self.same(mesh.ray.contains_points(points), theirs.contains_points(points))


if __name__ == "__main__":
    unittest.main()
