# SPDX-License-Identifier: Apache-2.0
"""Scenes from arrays, in one call."""
from __future__ import annotations

import numpy.typing

from ._raylift import Scene

__all__ = ["scene_of"]


def scene_of(vertices: numpy.typing.ArrayLike, triangles: numpy.typing.ArrayLike, *, name: str = "mesh",
             material: str = "") -> Scene:
    """A scene of one mesh and one solid. vertices: (V, 3), mm; triangles: (T, 3), counter-clockwise as seen from outside.

    A mesh far from the origin is stored around its middle, as its vertices are float32, and the solid's transform has the
    middle. Scene.add_mesh(), add_material() and add_solid() make scenes of more.
    """
    import numpy

    scene = Scene()
    if material:
        scene.add_material(material)
    points, transform = numpy.asarray(vertices), None
    if points.ndim == 2 and points.shape[1] == 3 and len(points) and points.dtype.kind in "fiu":
        low, high = points.min(axis=0).astype(float), points.max(axis=0).astype(float)
        with numpy.errstate(invalid="ignore"):  # what is not finite is an error below
            middle = numpy.round((low + high) / 2)
            far = numpy.abs(middle).max() > 4 * (high - low).max()
        if far:
            points = points - middle
            transform = numpy.column_stack([numpy.eye(3), middle])
    mesh = scene.add_mesh(points, numpy.asarray(triangles), name=name)
    scene.add_solid(mesh, transform=transform, name=name, material=material or None)
    return scene
