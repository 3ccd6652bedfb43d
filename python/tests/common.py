# SPDX-License-Identifier: Apache-2.0
"""What the tests share. Run all of them: python3 -m unittest discover -s python/tests -v, with raylift in PYTHONPATH.

RAYLIFT_DATA: the folder with detector.dae and cube.dae. RAYLIFT_PROGRAM: the program raylift, to compare with it.
RAYLIFT_TEST_DEVICE: "host" by default.
"""
import os
import pathlib
import unittest

import numpy as np

import raylift as rl

DATA = pathlib.Path(os.environ.get("RAYLIFT_DATA", pathlib.Path(__file__).resolve().parents[2] / "data"))
DEVICE = os.environ.get("RAYLIFT_TEST_DEVICE", "host")
_kept = {}


def detector():
    """The scene detector.dae: 906 solids, with optics."""
    if "detector" not in _kept:
        _kept["detector"] = rl.load(DATA / "detector.dae")
    return _kept["detector"]


def uploaded():
    """It, on the device."""
    if "uploaded" not in _kept:
        _kept["uploaded"] = rl.upload(detector(), DEVICE)
    return _kept["uploaded"]


def cube(half=1.0):
    """Vertices (8, 3) and triangles (12, 3) of a cube, outward."""
    vertices = half * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    squares = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return vertices, np.array([t for a, b, c, d in squares for t in ((a, b, c), (a, c, d))])


def sphere(steps=20, radius=1.0):
    """Vertices and triangles of a sphere by longitude and latitude, outward."""
    theta = np.linspace(0, np.pi, steps + 1)[1:-1]
    phi = np.linspace(0, 2 * np.pi, 2 * steps, endpoint=False)
    rings = np.stack([np.outer(np.sin(theta), np.cos(phi)), np.outer(np.sin(theta), np.sin(phi)),
                      np.outer(np.cos(theta), np.ones_like(phi))], -1)
    vertices = radius * np.concatenate([[[0, 0, 1]], rings.reshape(-1, 3), [[0, 0, -1]]])
    width, last = len(phi), len(vertices) - 1
    triangles = []
    for i in range(width):
        j = (i + 1) % width
        triangles += [(0, 1 + i, 1 + j), (last, last - width + j, last - width + i)]
        for ring in range(len(theta) - 1):
            a, b = 1 + ring * width, 1 + (ring + 1) * width
            triangles += [(a + i, b + i, b + j), (a + i, b + j, a + j)]
    return vertices, np.array(triangles)


def brute_force(vertices, triangles, origins, directions):
    """The nearest hit of each ray by Moeller and Trumbore in double: t, triangle (-1: none), and its second nearest t."""
    a, b, c = (vertices[triangles[:, k]].astype(float) for k in range(3))
    e1, e2 = b - a, c - a
    best = []
    for origin, direction in zip(np.asarray(origins, float), np.asarray(directions, float)):
        p = np.cross(direction, e2)
        det = np.einsum("ij,ij->i", e1, p)
        with np.errstate(divide="ignore", invalid="ignore"):
            s = origin - a
            u = np.einsum("ij,ij->i", s, p) / det
            q = np.cross(s, e1)
            v = q @ direction / det
            t = np.einsum("ij,ij->i", e2, q) / det
            good = (u >= 0) & (v >= 0) & (u + v <= 1) & (t >= 0)
        t = np.where(good, t, np.inf)
        order = np.argsort(t)[:2]
        best.append((t[order[0]], order[0] if np.isfinite(t[order[0]]) else -1, t[order[1]]))
    return tuple(np.array(column) for column in zip(*best))


def raises(kind):
    """A context in which raylift.Error of a kind is raised."""
    return _Raises(kind)


class _Raises:
    def __init__(self, kind):
        self.kind = kind
        self.error = None

    def __enter__(self):
        return self

    def __exit__(self, family, error, trace):
        if not isinstance(error, rl.Error):
            if error is None:
                raise AssertionError(f"no Error of kind {self.kind} was raised")
            return False
        self.error = error
        if error.kind != self.kind:
            raise AssertionError(f"{error.kind} instead of {self.kind}: {error}")
        return True


class Test(unittest.TestCase):
    def same(self, a, b):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
