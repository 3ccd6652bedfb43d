# SPDX-License-Identifier: Apache-2.0
"""Open3D's ray casting: cast_rays((..., 6)), and a RaycastingScene with its methods.

Rays have the last axis (x, y, z, dx, dy, dz); results have Open3D's keys, shapes and types. Arrays are NumPy's, or of
any library that raylift takes where the geometry is on a GPU: results are raylift.Arrays then.
"""
from __future__ import annotations

from typing import Any

import numpy
import numpy.typing

from . import Device, Geometry, Scene, upload
from .errors import UsageError

__all__ = ["RaycastingScene", "cast_rays"]

AnyArray = numpy.typing.NDArray[Any]


def cast_rays(geometry: Geometry, rays: Any) -> dict[str, Any]:
    """The first hit of each ray. rays: (..., 6) float32 in millimetres, NumPy's or the device's.

    Returns t_hit (...), infinite where nothing was hit; geometry_ids (...): the solid; primitive_ids (...): index in
    ``geometry.triangles``; primitive_uvs (..., 2); primitive_normals (..., 3). Ids are RaycastingScene.INVALID_ID where
    nothing was hit. Normals are of unit length, for NumPy's rays; on a GPU they are the device's, of any length, and all
    results are raylift.Arrays of one axis of rays.
    """
    on_device = hasattr(rays, "__cuda_array_interface__") and not geometry.device.is_host
    if not on_device:
        rays = numpy.asarray(rays, numpy.float32)
    if len(rays.shape) < 1 or rays.shape[-1] != 6:
        raise UsageError("rays must have the shape (..., 6)")
    flat = rays.reshape(-1, 6)
    hits = geometry.trace(flat[:, :3], flat[:, 3:])
    found = {"t_hit": hits.t, "geometry_ids": hits.solid, "primitive_ids": hits.triangle, "primitive_uvs": hits.uv,
             "primitive_normals": hits.normal}
    if on_device:
        return dict(found)
    result = {name: numpy.array(array.numpy()) for name, array in found.items()}
    missed = result["primitive_ids"] == 0xFFFFFFFF
    lengths = numpy.linalg.norm(result["primitive_normals"], axis=-1, keepdims=True)
    result["primitive_normals"] /= numpy.where(lengths > 0, lengths, 1)
    result["primitive_uvs"][missed] = 0
    result["primitive_normals"][missed] = 0
    return {name: array.reshape(rays.shape[:-1] + array.shape[1:]) for name, array in result.items()}


class RaycastingScene:
    """Meshes to cast rays at, by geometry ids, as open3d.t.geometry.RaycastingScene."""

    INVALID_ID = 0xFFFFFFFF

    def __init__(self, device: str | Device = "auto") -> None:
        self._device = device
        self._scene = Scene()
        self._first: list[int] = [0]
        self._uploaded: Geometry | None = None

    def add_triangles(self, vertices: Any, triangles: Any = None) -> int:
        """Adds a mesh, as (V, 3) and (T, 3), or as one object with these as vertices and triangles (or faces).

        Returns its geometry id.
        """
        if triangles is None:
            mesh = vertices
            vertices = mesh.vertices
            triangles = mesh.triangles if hasattr(mesh, "triangles") and not hasattr(mesh, "faces") else mesh.faces
        corners = numpy.asarray(triangles)
        geometry_id = self._scene.add_mesh(numpy.asarray(vertices), corners, name=f"mesh {len(self._first) - 1}")
        self._scene.add_solid(geometry_id)
        self._first.append(self._first[-1] + len(corners))
        self._uploaded = None
        return geometry_id

    @property
    def geometry(self) -> Geometry:
        """The meshes on the device."""
        if self._uploaded is None:
            self._uploaded = upload(self._scene, self._device)
        return self._uploaded

    def cast_rays(self, rays: numpy.typing.ArrayLike, nthreads: int = 0) -> dict[str, AnyArray]:
        """The first hit of each ray, (..., 6): see raylift.open3d.cast_rays. primitive_ids count in each mesh.

        nthreads: Open3D's; raylift uses all threads of the device.
        """
        result: dict[str, AnyArray] = cast_rays(self.geometry, numpy.asarray(rays, numpy.float32))
        ids, solids = result["primitive_ids"], result["geometry_ids"]
        hit = ids != self.INVALID_ID
        ids[hit] -= numpy.asarray(self._first, numpy.uint32)[solids[hit]]
        return result

    def test_occlusions(self, rays: numpy.typing.ArrayLike, tnear: float = 0.0, tfar: float = float("inf"),
                        nthreads: int = 0) -> numpy.typing.NDArray[numpy.bool_]:
        """(...) bool: whether each ray meets anything at tnear <= t < tfar."""
        given = numpy.asarray(rays, numpy.float32)
        flat = given.reshape(-1, 6)
        hits = self.geometry.trace(flat[:, :3], flat[:, 3:], tmin=tnear, tmax=tfar)
        return numpy.array(hits.valid.numpy()).reshape(given.shape[:-1])

    def count_intersections(self, rays: numpy.typing.ArrayLike, nthreads: int = 0) -> numpy.typing.NDArray[numpy.int32]:
        """(...) int32: how many triangles each ray passes through."""
        given = numpy.asarray(rays, numpy.float32)
        flat = given.reshape(-1, 6)
        counts = self.geometry.count_hits(flat[:, :3], flat[:, 3:])
        return counts.numpy().astype(numpy.int32).reshape(given.shape[:-1])
