# SPDX-License-Identifier: Apache-2.0
"""Arrays of vectors, of shape (3, n), and random ones."""
import numpy


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a, b):
    return numpy.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def unit(a):
    return a / numpy.sqrt(dot(a, a))


def across(axis):
    """Two unit vectors that make a right-handed frame with each axis."""
    other = numpy.zeros_like(axis)
    flat = numpy.abs(axis[2]) > 0.7
    other[0, flat] = 1
    other[2, ~flat] = 1
    first = unit(cross(other, axis))
    return first, cross(axis, first)


def about(axis, cosine, azimuth):
    """Unit vectors at an angle from each axis."""
    first, second = across(axis)
    sine = numpy.sqrt(numpy.clip(1 - cosine * cosine, 0, None))
    return unit(cosine * axis + sine * (numpy.cos(azimuth) * first + numpy.sin(azimuth) * second))


def isotropic(rng, count):
    z, azimuth = rng.uniform(-1, 1, count), rng.uniform(0, 2 * numpy.pi, count)
    sine = numpy.sqrt(1 - z * z)
    return numpy.stack([sine * numpy.cos(azimuth), sine * numpy.sin(azimuth), z])


def any_polarisation(rng, direction):
    """Unit vectors across each direction, at random."""
    return about(direction, numpy.zeros(direction.shape[1]), rng.uniform(0, 2 * numpy.pi, direction.shape[1]))


def mirrored(vector, normal):
    return vector - 2 * dot(vector, normal) * normal


def lambertian(rng, normal):
    """By Lambert's law: the squared cosine is uniform."""
    count = normal.shape[1]
    return about(normal, numpy.sqrt(rng.uniform(0, 1, count)), rng.uniform(0, 2 * numpy.pi, count))
