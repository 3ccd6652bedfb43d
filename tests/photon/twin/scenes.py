# SPDX-License-Identifier: Apache-2.0
"""Four scenes, which together have all of the twin's models. Tables are over energy, as Geant4's users have them."""
import copy

import numpy

from .follow import State
from .shapes import Box, Solid, Sphere, World, rotation
from .tables import HC
from .vectors import about, any_polarisation, dot, isotropic, unit


def table(wavelengths, values):
    return {"energy_eV": [HC / nm for nm in reversed(wavelengths)], "values": list(reversed(values))}


def flat(value):
    return {"wavelength_nm": [200, 800], "values": [value, value]}


class Source:
    """Births, and the text by which raylift makes as many."""

    def __init__(self, kind, at, wavelength, radius=0.0, direction=None, polarisation=None):
        self.kind, self.at, self.wavelength, self.radius = kind, numpy.array(at, float), wavelength, radius
        self.direction = None if direction is None else unit(numpy.array(direction, float))
        self.polarisation = polarisation

    def text(self):
        numbers = [*self.at, *(self.direction if self.kind == "laser" else []), *([] if self.kind == "point" else [self.radius])]
        text = f"{self.kind}:{','.join(repr(float(n)) for n in numbers)}:wavelength={self.wavelength[0]}-{self.wavelength[1]}"
        if self.polarisation:
            text += f":polarization={','.join(map(str, self.polarisation))}"
        return text

    def births(self, rng, count):
        position = numpy.repeat(self.at[:, None], count, axis=1)
        if self.kind == "laser":
            direction = numpy.repeat(self.direction[:, None], count, axis=1)
            side = about(direction, numpy.zeros(count), rng.uniform(0, 2 * numpy.pi, count))
            position += self.radius * numpy.sqrt(rng.uniform(0, 1, count)) * side
        else:
            direction = isotropic(rng, count)
            position += self.radius * numpy.cbrt(rng.uniform(0, 1, count)) * isotropic(rng, count)
        if self.polarisation:
            given = numpy.repeat(numpy.array(self.polarisation, float)[:, None], count, axis=1)
            polarisation = unit(given - dot(given, direction) * direction)
        else:
            polarisation = any_polarisation(rng, direction)
        return State(position=position, direction=direction, polarisation=polarisation, time=numpy.zeros(count),
                     wavelength=rng.uniform(*self.wavelength, count), inside=numpy.zeros(count, int), number=numpy.arange(count))


class Scene:
    def __init__(self, name, world, optics, source, faults):
        self.name, self.world, self.source, self.faults = name, world, source, faults
        self.optics = {"raylift_optics": 1, **optics}

    def with_fault(self, place):
        """Its optics with one property's values 2 % off; place: materials or surfaces, name, ... key."""
        optics = copy.deepcopy(self.optics)
        folder = optics
        for name in place[:-1]:
            folder = folder[name]
        value = folder[place[-1]]
        if isinstance(value, dict):
            value["values"] = [1.02 * v for v in value["values"]]
        elif isinstance(value, list):
            folder[place[-1]] = [1.02 * v for v in value]
        else:
            folder[place[-1]] = 1.02 * value
        return optics


def of_surface(name, key):
    return ("surfaces", name, "properties", key)


def scintillator():
    """A scintillating sphere in a tank of water, turned; what reaches the tank's wall is detected by its angle."""
    steel = Solid("World", Box(1500, 1500, 1500), "Steel")
    tank = Solid("Tank", Box(1000, 800, 900), "Water", steel, turn=rotation((1, 2, 3), 20))
    vessel = Solid("Vessel", Sphere(500), "Scintillator", tank, (150, -100, 50))
    optics = {
        "materials": {
            "Water": {"RINDEX": table((300, 400, 500, 800), (1.371, 1.344, 1.337, 1.33)),
                      "ABSLENGTH": table((300, 400, 600), (1500, 9000, 2500)),
                      "RAYLEIGH": table((300, 400, 600), (250, 800, 4000))},
            "Scintillator": {"RINDEX": table((300, 350, 400, 450, 500, 600), (1.57, 1.53, 1.508, 1.495, 1.488, 1.48)),
                             "ABSLENGTH": table((300, 350, 400, 450, 600), (40, 60, 120, 6000, 9000)),
                             "RAYLEIGH": table((300, 400, 600), (600, 1500, 9000)),
                             "REEMISSIONPROB": table((300, 400, 450, 500), (0.9, 0.8, 0.4, 0)),
                             "SCINTILLATIONCOMPONENT1": table((400, 420, 440, 500), (0, 1, 0.7, 0)),
                             "SCINTILLATIONTIMECONSTANT1": 4.5, "SCINTILLATIONRISETIME1": 1.2}},
        "surfaces": {"Wall": {"model": "unified", "finish": "polished", "type": "dielectric_metal", "value": 0, "properties": {
            "REFLECTIVITY": flat(0.3), "EFFICIENCY": table((300, 400, 600), (0.6, 0.9, 0.5))}}},
        "assignments": [{"surface": "Wall", "skin": {"solid": "Tank"}}],
        "channel_types": {"wall": {"efficiency": table((300, 400, 600), (0.9, 1, 0.8)), "angle_degrees": [0, 45, 90],
                                   "angle_efficiency": [1, 0.9, 0.4]}},
        "channels": [{"solids": {"solid": "Tank"}, "type": "wall", "first": 0}]}
    faults = [of_surface("Wall", "EFFICIENCY"), ("materials", "Scintillator", "ABSLENGTH"),
              ("materials", "Scintillator", "REEMISSIONPROB"),
              ("materials", "Scintillator", "SCINTILLATIONTIMECONSTANT1"), ("materials", "Water", "RINDEX"),
              ("materials", "Water", "RAYLEIGH"), of_surface("Wall", "REFLECTIVITY"),
              ("channel_types", "wall", "angle_efficiency")]
    return Scene("scintillator", World([steel, tank, vessel]), optics, Source("ball", (0, 0, 0), (350, 450), 200), faults)


def crystal():
    """A ground crystal on a plate that shifts wavelengths, a sensor at its side, and a glass block with a painted back."""
    air = Solid("World", Box(200, 200, 200), "Air")
    crystal_ = Solid("Crystal", Box(20, 15, 40), "Crystal", air, (0, 0, 45), rotation((0, 0, 1), 30))
    plate = Solid("Plate", Box(60, 60, 5), "Shifter", air)
    sensor = Solid("Sensor", Box(5, 60, 5), "Silicon", air, (65, 0, 0))
    block = Solid("Block", Box(30, 30, 15), "Glass", air, (10, -10, -40), rotation((1, 1, 0), 10))
    optics = {
        "materials": {
            "Air": {"RINDEX": flat(1.0)},
            "Crystal": {"RINDEX": table((300, 400, 500, 700), (1.95, 1.86, 1.82, 1.8)), "ABSLENGTH": flat(300),
                        "RAYLEIGH": flat(400)},
            "Shifter": {"RINDEX": table((300, 400, 500, 700), (1.53, 1.506, 1.497, 1.488)), "ABSLENGTH": flat(800),
                        "WLSABSLENGTH": table((300, 400, 450, 500), (1, 2, 60, 10000)),
                        "WLSCOMPONENT": table((420, 460, 490, 560), (0, 0.6, 1, 0)), "WLSTIMECONSTANT": 2.5,
                        "WLSMEANNUMBERPHOTONS": 0.95},
            "Glass": {"RINDEX": flat(1.6), "ABSLENGTH": flat(200)}},
        "surfaces": {
            "Ground": {"model": "unified", "finish": "ground", "type": "dielectric_dielectric", "value": 0.12, "properties": {
                "REFLECTIVITY": flat(0.96), "SPECULARLOBECONSTANT": flat(0.6), "SPECULARSPIKECONSTANT": flat(0.2),
                "BACKSCATTERCONSTANT": flat(0.05)}},
            "Cathode": {"model": "unified", "finish": "ground", "type": "dielectric_metal", "value": 0.2, "properties": {
                "REFLECTIVITY": flat(0.4), "EFFICIENCY": flat(0.6), "SPECULARLOBECONSTANT": flat(0.5),
                "SPECULARSPIKECONSTANT": flat(0.3)}},
            "Paint": {"model": "unified", "finish": "ground_back_painted", "type": "dielectric_dielectric", "value": 0.1,
                      "properties": {"RINDEX": flat(1.0), "REFLECTIVITY": flat(0.9), "SPECULARLOBECONSTANT": flat(1.0)}}},
        "assignments": [{"surface": "Ground", "skin": {"solid": "Crystal"}}, {"surface": "Cathode", "skin": {"solid": "Sensor"}},
                        {"surface": "Paint", "border": {"from": {"solid": "Block"}, "to": {"solid": "World"}}}]}
    faults = [of_surface("Ground", "REFLECTIVITY"), ("materials", "Crystal", "RINDEX"),
              ("materials", "Crystal", "ABSLENGTH"), ("materials", "Crystal", "RAYLEIGH"),
              ("materials", "Shifter", "WLSABSLENGTH"), ("materials", "Shifter", "WLSTIMECONSTANT"),
              of_surface("Ground", "SPECULARLOBECONSTANT"), ("surfaces", "Ground", "value"),
              of_surface("Cathode", "EFFICIENCY"), of_surface("Paint", "REFLECTIVITY")]
    return Scene("crystal", World([air, crystal_, plate, sensor, block]), optics, Source("point", (3, 2, 50), (380, 480)), faults)


def argon():
    """Liquid argon in a foil that shifts to 350 nm, in acrylic that shifts to 430 nm, in argon within bare metal."""
    world = Solid("World", Box(1200, 800, 700), "Steel")
    cryostat = Solid("Cryostat", Box(1000, 600, 500), "Argon", world, turn=rotation((0, 1, 1), 15))
    blue = Solid("Blue", Box(800, 450, 350), "Acrylic", cryostat, (20, -10, 30))
    foil = Solid("Foil", Box(780, 430, 330), "Terphenyl", blue)
    inner = Solid("Inner", Box(779, 429, 329), "Argon", foil)
    mirror = Solid("Mirror", Box(100, 150, 50), "Steel", inner, (300, 50, -100), rotation((1, 0, 2), 40))
    optics = {
        "materials": {
            "Argon": {"RINDEX": table((110, 120, 130, 150, 200, 400, 600), (1.62, 1.45, 1.38, 1.31, 1.26, 1.23, 1.225)),
                      "ABSLENGTH": table((110, 200, 600), (3000, 4000, 5000)),
                      "RAYLEIGH": table((110, 130, 200, 400), (300, 900, 5000, 1e6))},
            "Terphenyl": {"RINDEX": table((110, 200, 400, 600), (1.7, 1.68, 1.65, 1.63)), "ABSLENGTH": flat(20),
                          "WLSABSLENGTH": table((100, 300, 350, 600), (0.3, 0.4, 50, 1e6)),
                          "WLSCOMPONENT": table((320, 340, 400), (0, 1, 0)), "WLSTIMECONSTANT": 1.136,
                          "WLSMEANNUMBERPHOTONS": 0.9,
                          "WLSABSLENGTH2": table((100, 300, 350, 600), (0.5, 0.6, 80, 1e6)),
                          "WLSCOMPONENT2": table((380, 420, 480), (0, 1, 0)), "WLSTIMECONSTANT2": 5.0,
                          "WLSMEANNUMBERPHOTONS2": 0.8},
            "Acrylic": {"RINDEX": table((300, 400, 600), (1.53, 1.505, 1.49)), "ABSLENGTH": flat(2500),
                        "WLSABSLENGTH": table((300, 390, 420, 600), (20, 30, 2000, 1e6)),
                        "WLSCOMPONENT": {"energy_eV": [2.5, 2.9, 3.1], "values": [0, 1, 0]}, "WLSTIMECONSTANT": 1.2}},
        "surfaces": {
            "Bare": {"model": "glisur", "finish": "polished", "type": "dielectric_metal", "value": 1, "properties": {
                "REALRINDEX": table((200, 400, 600), (0.12, 0.5, 1.2)), "IMAGINARYRINDEX": table((200, 400, 600), (1.0, 2.9, 4.5)),
                "EFFICIENCY": flat(0.5)}},
            "Mirror": {"model": "glisur", "finish": "ground", "type": "dielectric_metal", "value": 0.7, "properties": {
                "REFLECTIVITY": table((110, 200, 400), (0.5, 0.7, 0.9))}},
            "Etched": {"model": "glisur", "finish": "ground", "type": "dielectric_dielectric", "value": 0.8, "properties": {
                "REFLECTIVITY": flat(0.97)}}},
        "assignments": [{"surface": "Bare", "skin": {"solid": "Cryostat"}}, {"surface": "Mirror", "skin": {"solid": "Mirror"}},
                        {"surface": "Etched", "border": {"from": {"solid": "Blue"}, "to": {"solid": "Cryostat"}}},
                        {"surface": "Etched", "border": {"from": {"solid": "Cryostat"}, "to": {"solid": "Blue"}}}]}
    faults = [("materials", "Terphenyl", "WLSMEANNUMBERPHOTONS"), ("materials", "Argon", "RINDEX"),
              ("materials", "Argon", "RAYLEIGH"), ("materials", "Argon", "ABSLENGTH"),
              ("materials", "Terphenyl", "WLSABSLENGTH"), ("materials", "Terphenyl", "WLSTIMECONSTANT2"),
              ("materials", "Acrylic", "WLSABSLENGTH"), of_surface("Bare", "IMAGINARYRINDEX"),
              of_surface("Mirror", "REFLECTIVITY"), ("surfaces", "Etched", "value")]
    return Scene("argon", World([world, cryostat, blue, foil, inner, mirror]), optics,
                 Source("ball", (-200, 30, 40), (120, 140), 80), faults)


def chroma():
    """A polarised beam in cloudy water, with a dichroic filter, one of Chroma's simple surfaces, and painted walls."""
    air = Solid("World", Box(500, 450, 450), "Air")
    tank = Solid("Tank", Box(400, 300, 300), "Water", air)
    filter_ = Solid("Filter", Box(40, 150, 150), "Glass", tank, (150, 0, 20), rotation((0, 0, 1), 25))
    panel = Solid("Panel", Box(30, 200, 200), "Glass", tank, (-200, 10, 0), rotation((0, 1, 0), 12))
    block = Solid("Block", Box(60, 60, 40), "Glass", tank, (0, 0, -220))
    optics = {
        "materials": {
            "Air": {"RINDEX": flat(1.0), "ABSLENGTH": flat(5000)},
            "Water": {"RINDEX": table((300, 400, 600), (1.37, 1.344, 1.333)), "ABSLENGTH": flat(1500), "MIEHG": flat(200),
                      "MIEHG_FORWARD": 0.85, "MIEHG_BACKWARD": 0.4, "MIEHG_FORWARD_RATIO": 0.8},
            "Glass": {"RINDEX": table((300, 400, 600), (1.55, 1.53, 1.52)), "ABSLENGTH": flat(600)}},
        "surfaces": {
            "Dichroic": {"model": "dichroic", "type": "dielectric_dichroic", "finish": "polished", "dichroic": [
                {"degrees": 0, "reflect": table((300, 440, 460, 600), (0.9, 0.8, 0.1, 0.05)),
                 "transmit": table((300, 440, 460, 600), (0.05, 0.1, 0.8, 0.9))},
                {"degrees": 30, "reflect": table((300, 420, 440, 600), (0.9, 0.8, 0.2, 0.1)),
                 "transmit": table((300, 420, 440, 600), (0.05, 0.1, 0.7, 0.85))},
                {"degrees": 65, "reflect": table((300, 600), (0.6, 0.3)), "transmit": table((300, 600), (0.3, 0.6))}]},
            "Simple": {"model": "simple", "properties": {"DETECT": table((300, 600), (0.3, 0.1)), "ABSORB": flat(0.15),
                                                         "REFLECT_DIFFUSE": flat(0.3), "REFLECT_SPECULAR": flat(0.1)}},
            "Wall": {"model": "unified", "finish": "polished", "type": "dielectric_dielectric", "value": 0, "properties": {
                "REFLECTIVITY": flat(0.6), "TRANSMITTANCE": flat(0.2), "EFFICIENCY": flat(0.5)}},
            "Paint": {"model": "unified", "finish": "ground_front_painted", "type": "dielectric_dielectric", "value": 0,
                      "properties": {"REFLECTIVITY": flat(0.9)}}},
        "assignments": [{"surface": "Dichroic", "skin": {"solid": "Filter"}}, {"surface": "Simple", "skin": {"solid": "Panel"}},
                        {"surface": "Wall", "border": {"from": {"solid": "Tank"}, "to": {"solid": "World"}}},
                        {"surface": "Paint", "skin": {"solid": "Block"}}]}
    faults = [("materials", "Water", "RINDEX"), ("materials", "Water", "MIEHG"),
              ("materials", "Water", "MIEHG_FORWARD"), ("materials", "Water", "MIEHG_FORWARD_RATIO"),
              of_surface("Simple", "DETECT"), of_surface("Simple", "REFLECT_DIFFUSE"),
              ("surfaces", "Dichroic", "dichroic", 1, "reflect"), ("surfaces", "Dichroic", "dichroic", 1, "transmit"),
              of_surface("Wall", "TRANSMITTANCE"), of_surface("Paint", "REFLECTIVITY")]
    source = Source("laser", (0, 0, 0), (350, 550), 20, (1, 0.3, 0.2), (0, 0, 1))
    return Scene("chroma", World([air, tank, filter_, panel, block]), optics, source, faults)


SCENES = {"scintillator": scintillator, "crystal": crystal, "argon": argon, "chroma": chroma}
