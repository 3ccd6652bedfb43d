# SPDX-License-Identifier: Apache-2.0
"""trimesh's ray interface: RayMeshIntersector, for meshes with ``vertices`` and ``faces``.

    mesh.ray = raylift.trimesh.RayMeshIntersector(mesh)
    locations, index_ray, index_tri = mesh.ray.intersects_location(origins, directions)

Names, arguments, shapes and meanings are those of trimesh.ray.ray_triangle and of trimesh.ray.ray_pyembree. Rays are
exact: of a closed mesh each is inside or outside, also where it passes through an edge or a vertex.
"""
from __future__ import annotations

from typing import Any, Literal, overload

import numpy
import numpy.typing

from . import scene_of, upload

__all__ = ["RayMeshIntersector"]

Floats = numpy.typing.NDArray[numpy.float64]
Indices = numpy.typing.NDArray[numpy.int64]
Flags = numpy.typing.NDArray[numpy.bool_]

# No axis of a scene's: a ray along one would run within many faces.
_DIRECTION = (0.4395064455, 0.617598629942, 0.652231566745)


class RayMeshIntersector:
    """Ray queries on a mesh, which must not change afterwards. Arrays are NumPy's; ``device`` says where rays run."""

    def __init__(self, mesh: Any, scale_to_box: bool = True, device: str = "auto", **options: Any) -> None:
        """scale_to_box: trimesh's; nothing depends on it here."""
        self.mesh = mesh
        self._corners: Floats = numpy.asarray(mesh.vertices, float)
        self._faces: Indices = numpy.asarray(mesh.faces, numpy.int64).reshape(-1, 3)
        self.geometry = upload(scene_of(self._corners.reshape(-1, 3), self._faces), device, **options)

    def intersects_first(self, ray_origins: numpy.typing.ArrayLike,
                         ray_directions: numpy.typing.ArrayLike) -> Indices:
        """(N,) the triangle that each ray meets first; -1: none."""
        origins, directions = _checked(ray_origins, ray_directions)
        hits = self.geometry.trace(origins, _of_unit_length(directions))
        triangles = hits.numpy()["triangle"].astype(numpy.int64)
        triangles[triangles == 0xFFFFFFFF] = -1
        return triangles

    def intersects_any(self, ray_origins: numpy.typing.ArrayLike, ray_directions: numpy.typing.ArrayLike) -> Flags:
        """(N,) whether each ray meets anything."""
        return self.intersects_first(ray_origins, ray_directions) >= 0

    @overload
    def intersects_id(self, ray_origins: numpy.typing.ArrayLike, ray_directions: numpy.typing.ArrayLike,
                      multiple_hits: bool = ..., max_hits: int | None = ...,
                      return_locations: Literal[False] = ...) -> tuple[Indices, Indices]: ...

    @overload
    def intersects_id(self, ray_origins: numpy.typing.ArrayLike, ray_directions: numpy.typing.ArrayLike,
                      multiple_hits: bool = ..., max_hits: int | None = ..., *,
                      return_locations: Literal[True]) -> tuple[Indices, Indices, Floats]: ...

    def intersects_id(self, ray_origins: numpy.typing.ArrayLike, ray_directions: numpy.typing.ArrayLike,
                      multiple_hits: bool = True, max_hits: int | None = None,
                      return_locations: bool = False) -> tuple[Indices, Indices] | tuple[Indices, Indices, Floats]:
        """(M,) triangles and (M,) rays of all hits, or of the first ``max_hits`` of each ray; and (M, 3) locations.

        Locations are returned if they are asked for. Hits of one ray are in its order, and rays in theirs. Triangles that
        coincide are each a hit.
        """
        origins, directions = _checked(ray_origins, ray_directions)
        triangles, rays = self._all_hits(origins, directions, max_hits if multiple_hits else 1)
        if not return_locations:
            return triangles, rays
        return triangles, rays, self._locations(origins[rays], directions[rays], triangles)

    def intersects_location(self, ray_origins: numpy.typing.ArrayLike, ray_directions: numpy.typing.ArrayLike,
                            multiple_hits: bool = True) -> tuple[Floats, Indices, Indices]:
        """(M, 3) locations, (M,) rays and (M,) triangles of all hits, or of each ray's first one."""
        triangles, rays, locations = self.intersects_id(ray_origins, ray_directions, multiple_hits,
                                                        return_locations=True)
        return locations, rays, triangles

    def contains_points(self, points: numpy.typing.ArrayLike) -> Flags:
        """(N,) whether each point is inside of the mesh, which must be closed."""
        origins = numpy.asarray(points, float).reshape(-1, 3)
        counts = self.geometry.count_hits(origins, numpy.broadcast_to(_DIRECTION, origins.shape))
        return numpy.asarray(counts.numpy() % 2 == 1)

    def _all_hits(self, origins: Floats, directions: Floats, most: int | None) -> tuple[Indices, Indices]:
        hits, numbers = self.geometry.all_hits(origins, _of_unit_length(directions))
        counts = numbers.numpy().astype(numpy.int64)
        rays = numpy.repeat(numpy.arange(len(origins)), counts)
        triangles = hits.numpy()["triangle"].astype(numpy.int64)
        if most is None:
            return triangles, rays
        first = numpy.arange(len(rays)) - numpy.repeat(numpy.cumsum(counts) - counts, counts) < most
        return triangles[first], rays[first]

    def _locations(self, origins: Floats, directions: Floats, triangles: Indices) -> Floats:
        """Where the lines pass the triangles' planes, in double."""
        a, b, c = (self._corners[self._faces[triangles, k]] for k in range(3))
        normals = numpy.cross(b - a, c - a)
        along = numpy.einsum("ij,ij->i", normals, directions)
        with numpy.errstate(divide="ignore", invalid="ignore"):
            t = numpy.einsum("ij,ij->i", normals, a - origins) / along
            return numpy.asarray(origins + t[:, None] * directions)


def _checked(origins: numpy.typing.ArrayLike, directions: numpy.typing.ArrayLike) -> tuple[Floats, Floats]:
    starts = numpy.asarray(origins, float).reshape(-1, 3)
    along = numpy.asarray(directions, float).reshape(-1, 3)
    if starts.shape != along.shape:
        raise ValueError(f"{len(starts)} origins and {len(along)} directions")
    return starts, along


def _of_unit_length(directions: Floats) -> Floats:
    """NaN for those without a length, whose rays meet nothing."""
    lengths = numpy.linalg.norm(directions, axis=1)
    return numpy.asarray(directions / numpy.where(lengths > 0, lengths, numpy.nan)[:, None])
