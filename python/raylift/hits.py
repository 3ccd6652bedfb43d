# SPDX-License-Identifier: Apache-2.0
"""Hits of rays."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy
    import numpy.typing
    from ._raylift import Array, Geometry

__all__ = ["Hits"]


class Hits:
    """The nearest hit of each ray, on the geometry's device.

    ``array`` has the records of the device, (N,) of ``hit_dtype``. The attributes below are arrays of N rows each; t,
    triangle, uv and normal are fields of the records, without a copy, and the others are computed where they are first
    asked for. On the host device ``numpy.asarray`` takes all of them without a copy; on a GPU, CuPy, PyTorch, Numba and
    JAX do. JAX takes contiguous arrays alone: ``array.view("float32")``, (N, 8).

    A pickle of hits, and a deep copy, has all of these as NumPy arrays, and no geometry.
    """

    def __init__(self, geometry: Geometry, array: Array) -> None:
        self.geometry = geometry
        self.array = array
        self._made: dict[str, Array] = {}

    def __getstate__(self) -> dict[str, Any]:
        import numpy

        computed = ("valid", "from_inside", "instance", "solid", "material_inside", "material_outside")
        return {"array": numpy.array(self.numpy()),
                "_made": {name: numpy.array(_on_host(self._get(name))) for name in computed}}

    def __copy__(self) -> Hits:
        same = Hits.__new__(Hits)
        same.__dict__.update(self.__dict__)
        return same

    def __len__(self) -> int:
        return len(self.array)

    def __repr__(self) -> str:
        place = f" on {self.geometry.device.id}" if hasattr(self, "geometry") else ""
        return f"<raylift.Hits of {len(self)} rays{place}>"

    def __array__(self, dtype: Any = None, copy: Any = None) -> numpy.typing.NDArray[Any]:
        import numpy

        return numpy.asarray(self.array, dtype=dtype)

    @property
    def t(self) -> Array:
        """(N,) float32: the distance in lengths of the direction; the ray's tmax if it hits nothing."""
        return self.array["t"]

    @property
    def triangle(self) -> Array:
        """(N,) uint32: index in ``geometry.triangles``; 0xFFFFFFFF where nothing was hit."""
        return self.array["triangle"]

    @property
    def uv(self) -> Array:
        """(N, 2) float32: the point is (1 - u - v) a + u b + v c of the triangle's vertices."""
        return self.array["uv"]

    @property
    def normal(self) -> Array:
        """(N, 3) float32: outward, in the scene's frame, not of unit length."""
        return self.array["normal"]

    @property
    def valid(self) -> Array:
        """(N,) bool: whether something was hit."""
        return self._get("valid")

    @property
    def from_inside(self) -> Array:
        """(N,) bool: whether the ray leaves the solid."""
        return self._get("from_inside")

    @property
    def instance(self) -> Array:
        """(N,) uint32: index in ``geometry.instances``; 0xFFFFFFFF where nothing was hit."""
        return self._get("instance")

    @property
    def solid(self) -> Array:
        """(N,) uint32: the solid that was hit, by its number in the scene; 0xFFFFFFFF where nothing was."""
        return self._get("solid")

    @property
    def material_inside(self) -> Array:
        """(N,) uint16: material inside of the triangle, by its number in the scene; 0xFFFF: none."""
        return self._get("material_inside")

    @property
    def material_outside(self) -> Array:
        """(N,) uint16: material outside of it."""
        return self._get("material_outside")

    def _get(self, name: str) -> Array:
        if name not in self._made:
            self._made[name] = self.geometry._of_hits(self.array, name)
        return self._made[name]

    def numpy(self) -> numpy.typing.NDArray[Any]:
        """The records as a NumPy array: the same memory on the host device, a copy from a GPU."""
        return _on_host(self.array)

    def synchronize(self) -> None:
        """Waits until the hits are computed."""
        if hasattr(self, "geometry"):
            self.array.synchronize()


def _on_host(array: Any) -> numpy.typing.NDArray[Any]:
    """An Array, or a NumPy array of hits that were pickled, as a NumPy array."""
    import numpy

    return array if isinstance(array, numpy.ndarray) else numpy.asarray(array.numpy())
