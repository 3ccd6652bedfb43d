# SPDX-License-Identifier: Apache-2.0
"""A scene's optics: properties of materials and surfaces, as arrays, in and out.

    water = scene.optics.materials["Water"]
    water["RINDEX"] = raylift.Table.of_wavelength([200, 400, 800], [1.38, 1.34, 1.33])
    water["ABSLENGTH"].values                     # numpy array, mm

Keys and their meaning are Geant4's (docs/optics.md). What is set is checked where the scene is used next.
"""
from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterator, Mapping, MutableMapping, Union

import numpy
import numpy.typing

from .errors import UsageError

if TYPE_CHECKING:
    from ._raylift import Scene

__all__ = ["EV_NM", "Materials", "Optics", "Properties", "Surface", "Surfaces", "Table"]

EV_NM = 1239.8419843320026
"""Energy times wavelength of a photon, h c, in eV nm."""

Numbers = numpy.typing.NDArray[numpy.float64]


@dataclass(frozen=True, eq=False)
class Table:
    """A property over photon energy (``over_energy``, eV) or wavelength (nm), linear between its points.

    A table is a value: its arrays are copies, and read-only. To change a property, assign another table.
    """

    at: Numbers
    values: Numbers
    over_energy: bool = False

    def __post_init__(self) -> None:
        for name in ("at", "values"):
            numbers = numpy.array(getattr(self, name), float)
            numbers.flags.writeable = False
            object.__setattr__(self, name, numbers)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return (self.over_energy == other.over_energy and numpy.array_equal(self.at, other.at)
                and numpy.array_equal(self.values, other.values))

    def __hash__(self) -> int:
        return hash((self.over_energy, self.at.tobytes(), self.values.tobytes()))

    @staticmethod
    def of_wavelength(wavelengths: numpy.typing.ArrayLike, values: numpy.typing.ArrayLike) -> Table:
        """Over ascending wavelengths in nm; one value for all of them is allowed."""
        at = numpy.asarray(wavelengths, float)
        return Table(at, numpy.broadcast_to(numpy.asarray(values, float), at.shape), False)

    @staticmethod
    def of_energy(energies: numpy.typing.ArrayLike, values: numpy.typing.ArrayLike) -> Table:
        """Over ascending energies in eV; one value for all of them is allowed."""
        at = numpy.asarray(energies, float)
        return Table(at, numpy.broadcast_to(numpy.asarray(values, float), at.shape), True)

    def value(self, wavelength: numpy.typing.ArrayLike) -> Numbers:
        """At wavelengths in nm: linear in what the table is over, constant beyond its ends."""
        nm = numpy.asarray(wavelength, float)
        return numpy.asarray(numpy.interp(EV_NM / nm if self.over_energy else nm, self.at, self.values))


class Properties(MutableMapping[str, Union[Table, float]]):
    """The properties of one material or surface, by key: tables, and numbers."""

    def __init__(self, scene: Scene, kind: str, index: int) -> None:
        self._scene, self._kind, self._index = scene, kind, index

    def __getitem__(self, key: str) -> Table | float:
        found = self._scene._property(self._kind, self._index, key)
        if found is None:
            raise KeyError(key)
        if isinstance(found, float):
            return found
        over_energy, at, values = found
        return Table(at, values, over_energy)

    def table(self, key: str) -> Table:
        """The table of a key. Raises KeyError."""
        found = self[key]
        if not isinstance(found, Table):
            raise KeyError(f"{key} is a number")
        return found

    def __setitem__(self, key: str, value: Table | float) -> None:
        if isinstance(value, Table):
            self._scene._set_table(self._kind, self._index, key, value.over_energy, value.at, value.values)
        else:
            self._scene._set_constant(self._kind, self._index, key, float(value))

    def __delitem__(self, key: str) -> None:
        if not self._scene._remove_property(self._kind, self._index, key):
            raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._scene._property_keys(self._kind, self._index))

    def __len__(self) -> int:
        return len(self._scene._property_keys(self._kind, self._index))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self)})"


class Surface(Properties):
    """An optical surface: its properties, and name, model, finish, type and value."""

    def __init__(self, scene: Scene, index: int) -> None:
        super().__init__(scene, "surface", index)

    @property
    def index(self) -> int:
        return self._index

    def __getattr__(self, name: str) -> Any:
        words = self._scene._surface_words(self._index)
        if name in words:
            return words[name]
        raise AttributeError(name)


def _index(names: list[str], name: str) -> int:
    """The index of a name, with or without the pointer that Geant4 appends."""
    if name in names:
        return names.index(name)
    found = [index for index, long_name in enumerate(names) if re.fullmatch(re.escape(name) + "0x[0-9a-f]+", long_name)]
    if len(found) != 1:
        raise KeyError(name)
    return found[0]


class Materials(Mapping[str, Properties]):
    """A scene's materials by name; Geant4's pointer behind it may be left out."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def __getitem__(self, name: str) -> Properties:
        return Properties(self._scene, "material", _index(self._scene.materials, name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._scene.materials)

    def __len__(self) -> int:
        return len(self._scene.materials)


class Surfaces(Mapping[str, Surface]):
    """A scene's optical surfaces by name."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def __getitem__(self, name: str) -> Surface:
        return Surface(self._scene, _index(self._scene._surfaces(), name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._scene._surfaces())

    def __len__(self) -> int:
        return len(self._scene._surfaces())


class Optics:
    """The optics of one scene.

    Solids are selected by dicts of patterns, all of which have to match: solid, volume, mesh, material, path (with the
    wildcards of the shell), and copy_number.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.materials = Materials(scene)
        self.surfaces = Surfaces(scene)

    def add_surface(self, name: str, model: str = "unified", finish: str = "polished", type: str = "dielectric_metal",
                    value: float = 1) -> Surface:
        """Adds a surface, which has no effect until it is a skin or a border. value: polish (glisur) or sigma_alpha."""
        return Surface(self.scene, self.scene._add_surface(name, model, finish, type, value))

    def add_skin(self, surface: str | Surface, solids: Mapping[str, str | int], name: str = "") -> None:
        """Assigns the surface to the whole boundary of these solids."""
        self.scene._assign(self._surface(surface).index, dict(solids), None, name)

    def add_border(self, surface: str | Surface, out_of: Mapping[str, str | int], into: Mapping[str, str | int],
                   name: str = "") -> None:
        """Assigns the surface to photons that go from one solid into the other."""
        self.scene._assign(self._surface(surface).index, dict(out_of), dict(into), name)

    def add_channels(self, solids: Mapping[str, str | int], first: int | None = None) -> None:
        """Makes these solids detect, as channels from ``first`` on; by default by their copy numbers."""
        self.scene._add_channels(dict(solids), first)

    def _surface(self, surface: str | Surface) -> Surface:
        if isinstance(surface, Surface):
            return surface
        if surface not in self.surfaces:
            raise UsageError(f"there is no surface '{surface}'")
        return self.surfaces[surface]

