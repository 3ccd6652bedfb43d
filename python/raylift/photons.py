# SPDX-License-Identifier: Apache-2.0
"""Photons at their ends, as arrays."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

import numpy
import numpy.typing

from ._raylift import photon_dtype

if TYPE_CHECKING:
    from ._raylift import Geometry

__all__ = ["Photons", "Propagation", "start_photons"]

FloatArray = numpy.typing.NDArray[numpy.float32]
UintArray = numpy.typing.NDArray[numpy.uint32]
AnyArray = numpy.typing.NDArray[Any]


class Photons:
    """Rows of photons, N of them, as arrays of one quantity each; all share the memory of ``array``.

    ``array`` has the records, (N,) of ``photon_dtype``, and ``opticks`` the same bytes in Opticks's layout, (N, 4, 4) of
    float32.
    """

    def __init__(self, array: AnyArray) -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, rows: Any) -> Photons:
        return Photons(self.array[rows])

    def __array__(self, dtype: Any = None, copy: Any = None) -> AnyArray:
        return numpy.asarray(self.array, dtype=dtype)

    def __repr__(self) -> str:
        return f"<raylift.Photons, {len(self)} of them>"

    @property
    def position(self) -> FloatArray:
        """(N, 3) float32, mm, in the scene's coordinates."""
        return self.array["position"]

    @property
    def time(self) -> FloatArray:
        """(N,) float32, ns."""
        return self.array["time"]

    @property
    def direction(self) -> FloatArray:
        """(N, 3) float32, of unit length."""
        return self.array["direction"]

    @property
    def polarization(self) -> FloatArray:
        """(N, 3) float32, of unit length."""
        return self.array["polarization"]

    @property
    def wavelength(self) -> FloatArray:
        """(N,) float32, nm."""
        return self.array["wavelength"]

    @property
    def solid(self) -> UintArray:
        """(N,) uint32: the solid that a photon met, or was in."""
        return self.array["solid"]

    @property
    def flag(self) -> numpy.typing.NDArray[numpy.uint16]:
        """(N,) uint16: Opticks's flag of its end."""
        return self.array["flag"]

    @property
    def flags(self) -> UintArray:
        """(N,) uint32: Opticks's flags of all of its interactions."""
        return self.array["flags"]

    @property
    def surface(self) -> numpy.typing.NDArray[numpy.uint16]:
        """(N,) uint16: the surface that it met; 0xFFFF: none."""
        return self.array["surface"]

    @property
    def channel(self) -> numpy.typing.NDArray[numpy.int64]:
        """(N,) int64: the channel that detected it; -1: none. A new array."""
        return self.array["sensor"].astype(numpy.int64) - 1

    @property
    def number(self) -> UintArray:
        """(N,) uint32: its number, modulo 2^32."""
        return self.array["number"]

    @property
    def opticks(self) -> FloatArray:
        """The same bytes as (N, 4, 4) float32."""
        return numpy.ascontiguousarray(self.array).view(numpy.float32).reshape(-1, 4, 4)

    def chroma(self) -> dict[str, AnyArray]:
        """The arrays of Chroma's ``Photons``: pos, dir, pol, wavelengths, t; and channel, solid, number."""
        return {"pos": self.position, "dir": self.direction, "pol": self.polarization, "wavelengths": self.wavelength,
                "t": self.time, "channel": self.channel.astype(numpy.int32), "solid": self.solid,
                "number": self.number}


class Propagation:
    """The result of a simulation of photons. Counts include all photons, also those without rows.

    ``photons``, ``steps``: how many; ``ends``: how many ended by each kind; ``hits``, ``finals``: Photons, or None;
    ``sequences``: (N, 2, 2) uint64 or None; ``record``: (n, 32) of ``photon_dtype`` or None; ``channels``: (C, 2) int64,
    number and count of each; ``times``: (C, bins) uint64 or None; ``by_material``, ``by_surface``: (.. + 1, 16) uint64,
    counts by ``step_kinds``, the last row for none. ``end_values``: (materials, 8) uint64, steps at a wavelength that a
    table does not cover, of RINDEX, GROUPVEL, ABSLENGTH, RAYLEIGH, MIEHG, WLSABSLENGTH, WLSABSLENGTH2 and
    REEMISSIONPROB. ``geometry``: that of the simulation; a pickle leaves it out.
    """

    def __init__(self, geometry: Geometry, values: Mapping[str, Any]) -> None:
        self.geometry = geometry
        self.photons: int = values["photons"]
        self.steps: int = values["steps"]
        self.ends: dict[str, int] = values["ends"]
        self.hits: Photons | None = None if values["hits"] is None else Photons(values["hits"])
        self.finals: Photons | None = None if values["finals"] is None else Photons(values["finals"])
        self.sequences: AnyArray | None = values["sequences"]
        self.record: AnyArray | None = values["record"]
        self.channels: numpy.typing.NDArray[numpy.int64] = values["channels"]
        self.times: AnyArray | None = values.get("times")
        self.by_material: AnyArray = values["by_material"]
        self.by_surface: AnyArray = values["by_surface"]
        self.end_values: AnyArray = values["end_values"]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "geometry"}

    def __copy__(self) -> Propagation:
        same = Propagation.__new__(Propagation)
        same.__dict__.update(self.__dict__)
        return same

    def __repr__(self) -> str:
        ends = ", ".join(f"{count} {kind}" for kind, count in self.ends.items())
        return f"<raylift.Propagation of {self.photons} photons: {ends}>"


def start_photons(position: Any, direction: Any, wavelength: Any, polarization: Any = None, time: Any = 0,
                  flags: Any = 0) -> FloatArray:
    """Photons to start, (N, 4, 4) float32, from arrays of one quantity each, which broadcast.

    position: (N, 3), mm, in the scene's coordinates. direction: (N, 3), of any length. wavelength: (N,), nm.
    polarization: (N, 3), of which the part across the direction counts; without it, random. time: (N,), ns. flags: (N,),
    Opticks's: with CERENKOV or SCINTILLATION it is such light.
    """
    position, direction = numpy.atleast_2d(numpy.asarray(position)), numpy.atleast_2d(numpy.asarray(direction))
    (count,) = numpy.broadcast_shapes(position.shape[:1], direction.shape[:1], numpy.shape(wavelength),
                                      numpy.shape(time), numpy.shape(flags)) or (1,)
    rows = numpy.zeros(count, photon_dtype)
    rows["position"] = position
    rows["direction"] = direction
    rows["wavelength"] = wavelength
    rows["polarization"] = 0 if polarization is None else polarization
    rows["time"] = time
    rows["flags"] = flags
    return rows.view(numpy.float32).reshape(-1, 4, 4)
