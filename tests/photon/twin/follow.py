# SPDX-License-Identifier: Apache-2.0
"""Follows photons from birth to end, all of a batch at once."""
import numpy

from . import bulk
from .events import (ABSORBED, ABSORBED_AT_SURFACE, BIRTH, CUT, DETECTED, ESCAPED, NO_INDEX, TRANSMITTED)
from .surfaces import Light, at_surface
from .tables import C, ChannelType, Properties, Surface
from .vectors import dot

STEP = 1e-6   # mm: how far behind a boundary the next solid is looked for
MOST = 10000  # events


class State:
    """Photons on their way. Arrays of vectors have shape (3, n)."""

    VECTORS, NUMBERS = ("position", "direction", "polarisation"), ("time", "wavelength", "inside", "number")

    def __init__(self, **arrays):
        for name in (*self.VECTORS, *self.NUMBERS):
            setattr(self, name, arrays[name])

    def keep(self, chosen):
        for name in self.VECTORS:
            setattr(self, name, getattr(self, name)[:, chosen])
        for name in self.NUMBERS:
            setattr(self, name, getattr(self, name)[chosen])


class Result:
    """Photons at their ends, by number, and their histories: two words of 16 events."""

    def __init__(self, count):
        self.position, self.direction, self.polarisation = (numpy.zeros((3, count)) for _ in range(3))
        self.time, self.wavelength = numpy.zeros(count), numpy.zeros(count)
        self.end, self.solid = numpy.zeros(count, numpy.uint8), numpy.full(count, -1)
        self.history, self.events = numpy.zeros((count, 2), numpy.uint64), numpy.zeros(count, int)

    def add(self, numbers, event):
        slot = self.events[numbers]
        early = slot < 32
        chosen, slot = numbers[early], slot[early]
        self.history[chosen, slot // 16] |= event[early].astype(numpy.uint64) << (4 * (slot % 16)).astype(numpy.uint64)
        self.events[numbers] += 1

    def finish(self, state, ended, event, solid):
        numbers = state.number[ended]
        for name in State.VECTORS:
            getattr(self, name)[:, numbers] = getattr(state, name)[:, ended]
        self.time[numbers], self.wavelength[numbers] = state.time[ended], state.wavelength[ended]
        self.end[numbers], self.solid[numbers] = event[ended], solid[ended]

    @staticmethod
    def joined(parts):
        result = Result(0)
        for name in vars(result):
            arrays = [getattr(part, name) for part in parts]
            setattr(result, name, numpy.concatenate(arrays, axis=1 if name in State.VECTORS else 0))
        return result


class Simulator:
    """A world with the optics of a sidecar."""

    def __init__(self, world, optics):
        self.world = world
        self.materials = [Properties(optics["materials"].get(solid.material, {})) for solid in world.solids]
        self.smooth = Surface({})
        self.surfaces = {name: Surface(surface) for name, surface in optics.get("surfaces", {}).items()}
        names = [solid.name for solid in world.solids]
        self.skins, self.borders = {}, {}
        for assignment in optics.get("assignments", []):
            surface = self.surfaces[assignment["surface"]]
            if "skin" in assignment:
                self.skins[names.index(assignment["skin"]["solid"])] = surface
            else:
                pair = tuple(names.index(assignment["border"][side]["solid"]) for side in ("from", "to"))
                self.borders[pair] = surface
        self.channels = {}
        for channel in optics.get("channels", []):
            kind = ChannelType(optics["channel_types"][channel["type"]]) if "type" in channel else ChannelType({})
            self.channels[names.index(channel["solids"]["solid"])] = kind
        if not self.channels:  # solids of detecting skins, and those that detecting borders lead into
            detecting = [solid for solid, surface in self.skins.items() if surface.detects] + [
                pair[1] for pair, surface in self.borders.items() if surface.detects]
            self.channels = {solid: ChannelType({}) for solid in detecting}

    def surface(self, first, second):
        """docs/optics.md: the border; the skins, that of a daughter that is entered before its mother's; or none."""
        if (first, second) in self.borders:
            return self.borders[first, second]
        enters = second >= 0 and self.world.mothers[second] == first
        for solid in (second, first) if enters else (first, second):
            if solid in self.skins:
                return self.skins[solid]
        return self.smooth

    def follow(self, rng, state):
        state.inside = self.world.locate(state.position)
        result = Result(len(state.number))
        result.add(state.number, numpy.full(len(state.number), BIRTH, numpy.uint8))
        while len(state.number):
            event, solid = self.step(rng, state)
            happened = event != 0
            result.add(state.number[happened], event[happened])
            late = (result.events[state.number] > MOST) & ~self.ends(event)
            event[late] = CUT
            ended = self.ends(event)
            result.finish(state, ended, event, solid)
            state.keep(~ended)
        return result

    @staticmethod
    def ends(event):
        return numpy.isin(event, (ABSORBED, ABSORBED_AT_SURFACE, DETECTED, ESCAPED, NO_INDEX, CUT))

    def step(self, rng, state):
        count = len(state.number)
        rates, velocity = numpy.zeros((len(bulk.LENGTHS), count)), numpy.full(count, C)
        for number, material in enumerate(self.materials):
            each = (state.inside == number).nonzero()[0]
            if len(each):
                rates[:, each] = bulk.rates(material, state.wavelength[each])
                velocity[each] = material.at("GROUPVEL", state.wavelength[each], C)
        total = rates.sum(axis=0)
        with numpy.errstate(divide="ignore"):
            free = rng.exponential(1, count) / total
        distance, normal = self.world.next(state.position, state.direction, state.inside)
        way = numpy.minimum(free, distance)
        state.position += way * state.direction
        state.time += way / velocity
        event, solid = numpy.zeros(count, numpy.uint8), state.inside.copy()
        self.in_bulk(rng, state, free < distance, rates, event)
        self.at_boundary(rng, state, (free >= distance).nonzero()[0], normal, event, solid)
        return event, solid

    def in_bulk(self, rng, state, there, rates, event):
        for number, material in enumerate(self.materials):
            each = (there & (state.inside == number)).nonzero()[0]
            if len(each):
                process = bulk.choose(rng, rates[:, each])
                event[each] = bulk.Bulk(rng, material, state).happen(each, process)

    def at_boundary(self, rng, state, each, normal, event, solid):
        before = state.inside[each]
        behind = self.world.locate(state.position[:, each] + STEP * state.direction[:, each])
        same = behind == before  # it touched an edge or a sphere within rounding
        state.position[:, each[same]] += STEP * state.direction[:, each[same]]
        event[each[behind < 0]] = ESCAPED
        count = len(self.world.solids)
        pairs = numpy.where(same | (behind < 0), -1, before * count + behind)
        for pair in numpy.unique(pairs[pairs >= 0]):
            first, second = divmod(int(pair), count)
            some = each[pairs == pair]
            self.cross(rng, state, some, normal[:, some], first, second, event, solid)

    def cross(self, rng, state, each, normal, first, second, event, solid):
        wavelength = state.wavelength[each]
        n1 = self.materials[first].at("RINDEX", wavelength, 1.0)
        n2 = self.materials[second].at("RINDEX", wavelength, numpy.nan)
        light = Light(state.direction[:, each], state.polarisation[:, each])
        found, new = at_surface(rng, self.surface(first, second), light, normal, n1, n2, wavelength, self.smooth)
        found = numpy.array(found)
        sensor = self.channels.get(second, self.channels.get(first))
        if sensor:
            angle = numpy.arccos(numpy.clip(-dot(light.direction, normal), -1, 1))
            missed = rng.uniform(0, 1, len(each)) >= sensor.efficiency(wavelength, angle)
            found[(found == DETECTED) & missed] = ABSORBED_AT_SURFACE
        event[each], solid[each] = found, second
        # Where a sensor detects, the sensor is the solid.
        detector = first if second not in self.channels and first in self.channels else second
        solid[each[found == DETECTED]] = detector
        goes_on = ~self.ends(found)  # others keep the direction in which they came
        state.direction[:, each[goes_on]] = new.direction[:, goes_on]
        state.polarisation[:, each[goes_on]] = new.polarisation[:, goes_on]
        state.inside[each[found == TRANSMITTED]] = second
