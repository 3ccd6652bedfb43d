# SPDX-License-Identifier: Apache-2.0
"""Scenes from arrays, in one call."""
from __future__ import annotations

import numpy.typing

from ._raylift import Scene

__all__ = ["scene_of"]


def scene_of(vertices: numpy.typing.ArrayLike, triangles: numpy.typing.ArrayLike, *, name: str = "mesh",
             material: str = "") -> Scene:
    """A scene of one mesh and one solid. vertices: (V, 3), mm; triangles: (T, 3), counter-clockwise as seen from outside.

    Scene.add_mesh(), add_material() and add_solid() make scenes of more.
    """
    import numpy

    scene = Scene()
    if material:
        scene.add_material(material)
    mesh = scene.add_mesh(numpy.asarray(vertices), numpy.asarray(triangles), name=name)
    scene.add_solid(mesh, name=name, material=material or None)
    return scene
