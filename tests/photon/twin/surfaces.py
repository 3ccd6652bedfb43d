# SPDX-License-Identifier: Apache-2.0
"""What happens to photons at a boundary: Fresnel's equations, Geant4's glisur and unified models, and Chroma's.

Geant4's: E. Dietz-Laursonn, "Peculiarities in the Simulation of Optical Physics with Geant4" (arXiv:1612.05162), A. Levin
and C. Moisan, "A more physical approach to model the surface treatment of scintillation counters" (1996), and Geant4's Book
for Application Developers. Normals are against the photon. A polarisation's sign has no meaning.
"""
import functools

import numpy

from .events import ABSORBED_AT_SURFACE, DETECTED, NO_INDEX, REFLECTED, TRANSMITTED
from .vectors import about, any_polarisation, cross, dot, isotropic, lambertian, mirrored, unit

SPIKE, LOBE, BACK, DIFFUSE = range(4)


class Light:
    """Directions and polarisations."""

    def __init__(self, direction, polarisation):
        self.direction, self.polarisation = direction, polarisation

    def take(self, each):
        return Light(self.direction[:, each], self.polarisation[:, each])

    def put(self, each, other):
        self.direction[:, each], self.polarisation[:, each] = other.direction, other.polarisation


class Incidence:
    """Of light on a smooth boundary from n1 into n2: amplitudes across (s) and within (p) the plane of incidence.

    The p vector of a wave with direction k is k x s, for all three waves."""

    def __init__(self, light, normal, n1, n2):
        self.light, self.normal, self.ratio = light, normal, n1 / n2
        self.cosine = numpy.clip(-dot(light.direction, normal), 0, 1)
        plane = cross(light.direction, normal)
        length = numpy.sqrt(dot(plane, plane))
        straight = length < 1e-9
        self.s = numpy.where(straight, light.polarisation, plane / numpy.where(straight, 1, length))
        self.e_s = dot(light.polarisation, self.s)
        self.e_p = dot(light.polarisation, cross(light.direction, self.s))
        sine = self.ratio * numpy.sqrt(1 - self.cosine**2)
        self.total = sine >= 1
        self.behind = numpy.sqrt(numpy.clip(1 - sine * sine, 0, None))
        a, b, c, d = n1 * self.cosine, n2 * self.behind, n2 * self.cosine, n1 * self.behind
        with numpy.errstate(divide="ignore", invalid="ignore"):
            self.r_s, self.r_p = (a - b) / (a + b), (c - d) / (c + d)
            self.t_s, self.t_p = 2 * a / (a + b), 2 * a / (c + d)
        power = (self.r_s * self.e_s)**2 + (self.r_p * self.e_p)**2
        self.transmittance = numpy.where(self.total, 0, 1 - power / (self.e_s**2 + self.e_p**2))

    def wave(self, direction, e_s, e_p):
        return unit(e_s * self.s + e_p * cross(direction, self.s))

    def reflected(self, normal=None):
        """At another normal, if one is given: the amplitudes are the facet's all the same, as Geant4's spikes have them."""
        normal = self.normal if normal is None else normal
        direction = unit(mirrored(self.light.direction, normal))
        # Geant4 leaves out the phases of total reflection.
        mirror = mirrored(self.light.polarisation, normal)
        wave = self.wave(direction, self.r_s * self.e_s, self.r_p * self.e_p)
        return Light(direction, numpy.where(self.total, mirror, unit(wave - dot(wave, direction) * direction)))

    def refracted(self):
        direction = unit(self.ratio * self.light.direction + (self.ratio * self.cosine - self.behind) * self.normal)
        return Light(direction, self.wave(direction, self.t_s * self.e_s, self.t_p * self.e_p))


@functools.cache
def facet_angles(sigma):
    """Angles and their cumulative distribution: a Gauss function times the sine, which Geant4 caps at 4 sigma."""
    angle = numpy.linspace(0, min(numpy.pi / 2, 8 * sigma), 4001)
    density = numpy.exp(-angle**2 / (2 * sigma**2)) * numpy.minimum(numpy.sin(angle), min(1.0, 4 * sigma))
    sums = numpy.concatenate([[0], numpy.cumsum(density[1:] + density[:-1])])
    return angle, sums / sums[-1]


def facets(rng, surface, direction, normal):
    """Normals of the microfacets that photons meet; one that faces away is drawn again."""
    unified = surface.model == "unified"
    if surface.finish == "polished" or surface.value == (0 if unified else 1):
        return normal.copy()
    result = numpy.empty_like(normal)
    todo = numpy.arange(normal.shape[1])
    while len(todo):
        if unified:
            angle, sums = facet_angles(surface.value)
            alpha = numpy.interp(rng.uniform(0, 1, len(todo)), sums, angle)
            found = about(normal[:, todo], numpy.cos(alpha), rng.uniform(0, 2 * numpy.pi, len(todo)))
        else:
            ball = isotropic(rng, len(todo)) * numpy.cbrt(rng.uniform(0, 1, len(todo)))
            found = unit(normal[:, todo] + (1 - surface.value) * ball)
        result[:, todo] = found
        todo = todo[dot(direction[:, todo], found) >= 0]
    return result


def kinds(rng, surface, wavelength):
    """The unified model's kinds of reflection."""
    spike = surface.at("SPECULARSPIKECONSTANT", wavelength)
    lobe = spike + surface.at("SPECULARLOBECONSTANT", wavelength)
    back = lobe + surface.at("BACKSCATTERCONSTANT", wavelength)
    u = rng.uniform(0, 1, len(wavelength))
    return (u >= spike).astype(int) + (u >= lobe) + (u >= back)


def diffused(rng, light, normal):
    """By Lambert's law; the polarisation is mirrored at the facet between both directions."""
    new = lambertian(rng, normal)
    return Light(new, mirrored(light.polarisation, unit(new - light.direction)))


def reflected_as(rng, kind, light, normal, lobe):
    """After one of the unified model's reflections; `lobe` is what a facet reflects."""
    back, diffuse = kind == BACK, (kind == DIFFUSE).nonzero()[0]
    result = Light(numpy.where(back, -light.direction, lobe.direction),
                   numpy.where(back, light.polarisation, lobe.polarisation))
    result.put(diffuse, diffused(rng, light.take(diffuse), normal[:, diffuse]))
    return result


def rough_boundary(rng, surface, light, normal, n1, n2, wavelength):
    """From facet to facet of a boundary between dielectrics. Returns which photons are behind it, and the light."""
    light, normal = Light(light.direction.copy(), light.polarisation.copy()), normal.copy()
    n1, n2, behind = n1.copy(), n2.copy(), numpy.zeros(len(n1), bool)
    choosing = surface.model == "unified" and surface.finish != "polished"
    override = surface.at("TRANSMITTANCE", wavelength)
    todo = numpy.arange(len(n1))
    while len(todo):
        now, up = light.take(todo), normal[:, todo]
        facet = facets(rng, surface, now.direction, up)
        at = Incidence(now, facet, n1[todo], n2[todo])
        chance = numpy.where((override[todo] > 0) & ~at.total, override[todo], at.transmittance)
        passes = rng.uniform(0, 1, len(todo)) < chance
        if choosing:
            kind = kinds(rng, surface, wavelength[todo])
            back = reflected_as(rng, kind, now, up, at.reflected(numpy.where(kind == SPIKE, up, facet)))
        else:
            back = at.reflected()
        through = at.refracted()
        new = Light(numpy.where(passes, through.direction, back.direction),
                    numpy.where(passes, through.polarisation, back.polarisation))
        light.put(todo, new)
        along = dot(new.direction, up)
        behind[todo] ^= passes
        # What was refracted along the surface's other side meets it from there.
        turned = todo[passes & (along > 0)]
        normal[:, turned] *= -1
        n1[turned], n2[turned] = n2[turned], n1[turned]
        todo = todo[numpy.where(passes, along > 0, along < 0)]
    return behind, light


def absorbed_or_detected(rng, surface, wavelength):
    return numpy.where(rng.uniform(0, 1, len(wavelength)) < surface.at("EFFICIENCY", wavelength), DETECTED,
                       ABSORBED_AT_SURFACE)


def metal_reflectance(light, normal, n1, index):
    """Of a complex index, for each photon's polarisation (Born and Wolf, section 14.2)."""
    at = Incidence(light, normal, n1, n1)
    sine = n1 / index * numpy.sqrt(1 - at.cosine**2)
    behind = numpy.sqrt(1 - sine * sine)
    r_s = (n1 * at.cosine - index * behind) / (n1 * at.cosine + index * behind)
    r_p = (index * at.cosine - n1 * behind) / (index * at.cosine + n1 * behind)
    return (numpy.abs(r_s) * at.e_s)**2 + (numpy.abs(r_p) * at.e_p)**2


def painted(rng, surface, light, normal, wavelength):
    """REFLECTIVITY and TRANSMITTANCE: what is absorbed, or passes as if there were no boundary. 0: neither."""
    r = surface.at("REFLECTIVITY", wavelength, 1.0)
    t = surface.at("TRANSMITTANCE", wavelength)
    u = rng.uniform(0, 1, len(wavelength))
    return numpy.where(u < r, 0, numpy.where(u < r + t, TRANSMITTED, absorbed_or_detected(rng, surface, wavelength)))


def at_metal(rng, surface, light, normal, n1, _, wavelength):
    if "REALRINDEX" in surface.properties and "REFLECTIVITY" not in surface.properties:
        index = surface.at("REALRINDEX", wavelength) + 1j * surface.at("IMAGINARYRINDEX", wavelength)
        r = metal_reflectance(light, normal, n1, index)
        event = numpy.where(rng.uniform(0, 1, len(n1)) < r, 0, absorbed_or_detected(rng, surface, wavelength))
    else:
        event = painted(rng, surface, light, normal, wavelength)
    result = Light(light.direction.copy(), light.polarisation.copy())
    todo = (event == 0).nonzero()[0]
    event[todo] = REFLECTED
    unified = surface.model == "unified" and surface.finish != "polished"
    kind = kinds(rng, surface, wavelength) if unified else None
    while len(todo):
        now, up = result.take(todo), normal[:, todo]
        # glisur: Geant4 reflects from a facet where the finish is ground.
        facet = facets(rng, surface, now.direction, up)
        if unified:
            facet = numpy.where(kind[todo] == SPIKE, up, facet)
        new = Light(mirrored(now.direction, facet), mirrored(now.polarisation, facet))
        if unified:
            new = reflected_as(rng, kind[todo], now, up, new)
        result.put(todo, new)
        todo = todo[dot(new.direction, up) < 0]
    return event, result


def at_dielectric(rng, surface, light, normal, n1, n2, wavelength):
    front, back = "front_painted" in surface.finish, "back_painted" in surface.finish
    if back:
        return at_painted_back(rng, surface, light, normal, n1, wavelength)
    result = Light(light.direction.copy(), light.polarisation.copy())
    event = painted(rng, surface, light, normal, wavelength)
    todo = (event == 0).nonzero()[0]
    now, up = light.take(todo), normal[:, todo]
    if front:
        event[todo] = REFLECTED
        if surface.finish == "ground_front_painted":
            result.put(todo, diffused(rng, now, up))
        else:
            result.put(todo, Light(mirrored(now.direction, up), mirrored(now.polarisation, up)))
        return event, result
    behind, new = rough_boundary(rng, surface, now, up, n1[todo], n2[todo], wavelength[todo])
    event[todo] = numpy.where(behind, TRANSMITTED, REFLECTED)
    result.put(todo, new)
    return event, result


def at_painted_back(rng, surface, light, normal, n1, wavelength):
    """A rough boundary, a gap behind it, and paint behind that."""
    gap = surface.at("RINDEX", wavelength)
    event = numpy.full(len(n1), REFLECTED)
    inside, result = rough_boundary(rng, surface, light, normal, n1, gap, wavelength)
    todo = inside.nonzero()[0]
    while len(todo):
        fate = painted(rng, surface, result.take(todo), normal[:, todo], wavelength[todo])
        event[todo[fate != 0]] = fate[fate != 0]
        todo = todo[fate == 0]
        now, up = result.take(todo), normal[:, todo]
        if surface.finish == "ground_back_painted":
            new = diffused(rng, now, up)
        else:
            new = Light(mirrored(now.direction, up), mirrored(now.polarisation, up))
        out, new = rough_boundary(rng, surface, new, -up, gap[todo], n1[todo], wavelength[todo])
        result.put(todo, new)
        todo = todo[~out]
    return event, result


def at_chroma(rng, surface, light, normal, n1, n2, wavelength, smooth):
    """Chroma's simple surface and dichroic filter: probabilities that exclude each other."""
    count = len(n1)
    if surface.model == "dichroic":
        angle = numpy.arccos(numpy.clip(-dot(light.direction, normal), -1, 1))
        specular, passing = surface.dichroic(angle, wavelength)
        rest = 1 - specular - passing
        shares = numpy.stack([numpy.zeros(count), rest, numpy.zeros(count), specular, passing])
    else:
        shares = numpy.stack([surface.at(key, wavelength) for key in ("DETECT", "ABSORB", "REFLECT_DIFFUSE",
                                                                      "REFLECT_SPECULAR")])
        shares = numpy.concatenate([shares, 1 - shares.sum(axis=0, keepdims=True)])
    fate = (rng.uniform(0, 1, count) >= numpy.cumsum(shares, axis=0)).sum(axis=0)
    event = numpy.array([DETECTED, ABSORBED_AT_SURFACE, REFLECTED, REFLECTED, TRANSMITTED])[numpy.minimum(fate, 4)]
    result = Light(mirrored(light.direction, normal), mirrored(light.polarisation, normal))
    diffuse, rest = (fate == 2).nonzero()[0], (fate >= 4).nonzero()[0]
    new = lambertian(rng, normal[:, diffuse])
    result.put(diffuse, Light(new, any_polarisation(rng, new)))
    if surface.model == "dichroic":
        # As G4OpBoundaryProcess::DielectricDichroic: it goes straight on, without refraction.
        result.put(rest, light.take(rest))
    else:
        behind, new = rough_boundary(rng, smooth, light.take(rest), normal[:, rest], n1[rest], n2[rest], wavelength[rest])
        result.put(rest, new)
        event[rest] = numpy.where(behind, TRANSMITTED, REFLECTED)
    return event, result


def at_surface(rng, surface, light, normal, n1, n2, wavelength, smooth):
    """Events and light. n2 is NaN where the material behind has no RINDEX; `smooth` is the surface of no properties."""
    if surface.metal:
        return at_metal(rng, surface, light, normal, n1, n2, wavelength)
    if "painted" not in surface.finish and numpy.isnan(n2).any():
        ends = numpy.isnan(n2)
        event, result = numpy.full(len(n2), NO_INDEX), Light(light.direction.copy(), light.polarisation.copy())
        on = (~ends).nonzero()[0]
        if len(on):
            event[on], some = at_surface(rng, surface, light.take(on), normal[:, on], n1[on], n2[on], wavelength[on], smooth)
            result.put(on, some)
        return event, result
    if surface.chroma:
        return at_chroma(rng, surface, light, normal, n1, n2, wavelength, smooth)
    return at_dielectric(rng, surface, light, normal, n1, n2, wavelength)
