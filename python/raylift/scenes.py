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
    scene = Scene()
    if material:
        scene.add_material(material)
    mesh, transform = scene.add_centered_mesh(vertices, triangles, name=name)
    scene.add_solid(mesh, transform=transform, name=name, material=material or None)
    return scene
