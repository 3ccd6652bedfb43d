# SPDX-License-Identifier: Apache-2.0
"""What happens to photons within a material."""
import numpy

from .events import ABSORBED, REEMITTED, SCATTERED
from .vectors import about, any_polarisation, dot, isotropic, unit

LENGTHS = ("ABSLENGTH", "RAYLEIGH", "MIEHG", "WLSABSLENGTH", "WLSABSLENGTH2")


def rates(material, wavelength):
    """Of each process, per millimetre."""
    return numpy.stack([1 / material.at(key, wavelength) if key in material else numpy.zeros_like(wavelength)
                        for key in LENGTHS])


def choose(rng, weights):
    """The row of each column, by its share."""
    sums = numpy.cumsum(weights, axis=0)
    return (rng.uniform(0, 1, weights.shape[1]) * sums[-1] >= sums).sum(axis=0)


def rayleigh(rng, polarisation):
    """Radiation of a dipole along the polarisation: 1 - c^2 of the cosine c from it, drawn by the cubic's root."""
    count = polarisation.shape[1]
    angle = (2 * numpy.pi - numpy.arccos(1 - 2 * rng.uniform(0, 1, count))) / 3
    direction = about(polarisation, 2 * numpy.cos(angle), rng.uniform(0, 2 * numpy.pi, count))
    return direction, projected(polarisation, direction)


def projected(polarisation, direction):
    """The polarisation that light has when the old one is seen along a new direction."""
    return unit(polarisation - dot(polarisation, direction) * direction)


def henyey_greenstein(rng, g, count):
    """The cosine; L. G. Henyey and J. L. Greenstein, Astrophys. J. 93 (1941) 70."""
    u = rng.uniform(0, 1, count)
    straight = numpy.abs(g) < 1e-9
    g = numpy.where(straight, 0.5, g)
    part = (1 - g * g) / (1 - g + 2 * g * u)
    return numpy.clip(numpy.where(straight, 2 * u - 1, (1 + g * g - part * part) / (2 * g)), -1, 1)


def mie(rng, material, direction, polarisation):
    count = direction.shape[1]
    forward = rng.uniform(0, 1, count) < material.numbers.get("MIEHG_FORWARD_RATIO", 1)
    g = numpy.where(forward, material.numbers.get("MIEHG_FORWARD", 0), material.numbers.get("MIEHG_BACKWARD", 0))
    cosine = henyey_greenstein(rng, g, count) * numpy.where(forward, 1, -1)
    new = about(direction, cosine, rng.uniform(0, 2 * numpy.pi, count))
    return new, projected(polarisation, new)


def scintillation_delay(rng, material, count):
    """exp(-t / decay) (1 - exp(-t / rise)): the sum of two exponential delays."""
    decay = material.numbers.get("SCINTILLATIONTIMECONSTANT1", 0)
    rise = material.numbers.get("SCINTILLATIONRISETIME1", 0)
    delay = rng.exponential(1, count) * decay
    if rise > 0:
        delay += rng.exponential(1, count) * rise * decay / (rise + decay)
    return delay


def less_energy(rng, spectrum, wavelength):
    """From the part of a spectrum that has no more energy than the photon has."""
    result = spectrum.draw(rng, len(wavelength))
    for _ in range(100):
        wrong = (result < wavelength).nonzero()[0]
        if not len(wrong):
            break
        result[wrong] = spectrum.draw(rng, len(wrong))
    return numpy.maximum(result, wavelength)


class Bulk:
    """One process's photons after it: changes the state of those at `each`, and returns their events."""

    def __init__(self, rng, material, state):
        self.rng, self.material, self.state = rng, material, state

    def happen(self, each, process):
        event = numpy.zeros(len(each), numpy.uint8)
        for number, what in enumerate((self.absorb, self.rayleigh, self.mie, self.shift, self.shift_second)):
            chosen = (process == number).nonzero()[0]
            if len(chosen):
                event[chosen] = what(each[chosen])
        return event

    def emit(self, each, wavelength, delay):
        state = self.state
        state.wavelength[each] = wavelength
        state.time[each] += delay
        state.direction[:, each] = isotropic(self.rng, len(each))
        state.polarisation[:, each] = any_polarisation(self.rng, state.direction[:, each])

    def absorb(self, each):
        again = self.rng.uniform(0, 1, len(each)) < self.material.at("REEMISSIONPROB", self.state.wavelength[each])
        born = each[again]
        if len(born):
            self.emit(born, self.material.spectra["SCINTILLATIONCOMPONENT1"].draw(self.rng, len(born)),
                      scintillation_delay(self.rng, self.material, len(born)))
        return numpy.where(again, REEMITTED, ABSORBED)

    def rayleigh(self, each):
        state = self.state
        state.direction[:, each], state.polarisation[:, each] = rayleigh(self.rng, state.polarisation[:, each])
        return SCATTERED

    def mie(self, each):
        state = self.state
        state.direction[:, each], state.polarisation[:, each] = mie(
            self.rng, self.material, state.direction[:, each], state.polarisation[:, each])
        return SCATTERED

    def shift(self, each, which=""):
        material = self.material
        again = self.rng.uniform(0, 1, len(each)) < material.numbers.get("WLSMEANNUMBERPHOTONS" + which, 1)
        born = each[again]
        self.emit(born, less_energy(self.rng, material.spectra["WLSCOMPONENT" + which], self.state.wavelength[born]),
                  material.numbers.get("WLSTIMECONSTANT" + which, 0))
        return numpy.where(again, REEMITTED, ABSORBED)

    def shift_second(self, each):
        return self.shift(each, "2")
