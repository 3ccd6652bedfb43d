# SPDX-License-Identifier: Apache-2.0
"""Optical properties of a sidecar, as docs/optics.md defines them: tables in double, at their own points."""
import numpy

HC = 1239.8419843320026  # eV nm
C = 299.792458           # mm/ns
UNITS = {"mm": 1, "cm": 10, "m": 1000, "um": 1e-3, "nm": 1e-6, "km": 1e6, "ns": 1, "ps": 1e-3, "us": 1e3, "ms": 1e6, "s": 1e9,
         "mm/ns": 1, "cm/ns": 10, "m/ns": 1000, "m/s": 1e-6}


class Table:
    """Linear in what it is given over, constant beyond its ends."""

    def __init__(self, table):
        self.over_energy = "wavelength_nm" not in table
        points = table["wavelength_nm"] if not self.over_energy else table.get("energy_eV")
        if points is None:
            points = [1e6 * energy for energy in table["energy_MeV"]]
        self.points = numpy.array(points, float)
        self.values = numpy.array(table["values"], float) * UNITS[table.get("unit", "mm")]

    def at(self, wavelength):
        return numpy.interp(HC / wavelength if self.over_energy else wavelength, self.points, self.values)


class Spectrum:
    """A density; each interval between points has the trapezoid's share, within which all values are alike."""

    def __init__(self, table):
        self.table = Table(table)
        x, y = self.table.points, self.table.values
        sums = numpy.concatenate([[0], numpy.cumsum((y[1:] + y[:-1]) / 2 * numpy.diff(x))])
        self.cumulative = sums / sums[-1]

    def draw(self, rng, count):
        """Wavelengths."""
        x = numpy.interp(rng.uniform(0, 1, count), self.cumulative, self.table.points)
        return HC / x if self.table.over_energy else x


def group_velocity(index):
    """c / (n + dn / d ln E) at the points that Geant4 11 gives its table, never more than c / n and never negative."""
    energy, n = index.points, index.values
    if not index.over_energy:
        energy, n = HC / energy[::-1], n[::-1]
    slope = numpy.diff(n) / numpy.diff(numpy.log(energy))
    at_energy = [energy[0], *((energy[:-2] + energy[1:-1]) / 2), energy[-1]]
    at_n = numpy.array([n[0], *((n[:-2] + n[1:-1]) / 2), n[-1]])
    at_slope = numpy.array([slope[0], *slope[:-1], slope[-1]])
    velocity = C / (at_n + at_slope)
    wrong = (velocity < 0) | (velocity > C / at_n)
    velocity[wrong] = (C / at_n)[wrong]
    return Table({"energy_eV": at_energy, "values": velocity})


class Properties:
    """Of a material or a surface."""

    def __init__(self, properties):
        self.tables, self.spectra, self.numbers = {}, {}, {}
        for key, value in properties.items():
            if isinstance(value, (int, float)):
                self.numbers[key] = float(value)
            elif "value" in value:
                self.numbers[key] = value["value"] * UNITS[value.get("unit", "mm")]
            elif "COMPONENT" in key:
                self.spectra[key] = Spectrum(value)
            else:
                self.tables[key] = Table(value)
        if "RINDEX" in self.tables and "GROUPVEL" not in self.tables:
            self.tables["GROUPVEL"] = group_velocity(Table(properties["RINDEX"]))

    def __contains__(self, key):
        return key in self.tables or key in self.spectra or key in self.numbers

    def at(self, key, wavelength, missing=0.0):
        if key in self.tables:
            return self.tables[key].at(wavelength)
        return numpy.full(wavelength.shape, self.numbers.get(key, missing))


class Surface:
    """An optical surface of a sidecar."""

    def __init__(self, surface):
        self.model, self.finish = surface.get("model", "glisur"), surface.get("finish", "polished")
        self.type, self.value = surface.get("type", "dielectric_dielectric"), surface.get("value", 1.0)
        self.properties = Properties(surface.get("properties", {}))
        self.metal = self.type == "dielectric_metal"
        self.rows = [(row.get("radians", numpy.radians(row.get("degrees", 0))), Table(row["reflect"]),
                      Table(row["transmit"])) for row in surface.get("dichroic", [])]
        self.detects = any(table.values.max() > 0 for key, table in self.properties.tables.items()
                           if key in ("EFFICIENCY", "DETECT"))
        # Chroma's models take probabilities and end or pass light themselves.
        self.chroma = self.model in ("simple", "dichroic")

    def at(self, key, wavelength, missing=0.0):
        return self.properties.at(key, wavelength, missing)

    def dichroic(self, angle, wavelength):
        """Shares that are reflected and transmitted, linear in the angle and constant beyond the first and last one."""
        angles = numpy.array([row[0] for row in self.rows])
        place = numpy.interp(angle, angles, numpy.arange(len(angles)))
        below = numpy.minimum(place.astype(int), max(len(angles) - 2, 0))
        part = place - below
        shares = []
        for column in (1, 2):
            all_rows = numpy.stack([row[column].at(wavelength) for row in self.rows])
            each = numpy.arange(len(wavelength))
            above = all_rows[numpy.minimum(below + 1, len(angles) - 1), each]
            shares.append(all_rows[below, each] * (1 - part) + above * part)
        return shares


class ChannelType:
    def __init__(self, channel):
        self.table = Table(channel["efficiency"]) if "efficiency" in channel else None
        self.angles = numpy.radians(channel["angle_degrees"]) if "angle_degrees" in channel else None
        self.by_angle = channel.get("angle_efficiency")

    def efficiency(self, wavelength, angle):
        result = numpy.ones_like(wavelength)
        if self.table is not None:
            result = result * self.table.at(wavelength)
        if self.angles is not None:
            result = result * numpy.interp(angle, self.angles, self.by_angle)
        return result
