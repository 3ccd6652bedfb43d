# SPDX-License-Identifier: Apache-2.0
"""Boxes and spheres, exact for the twin and as meshes for raylift, and the tree of solids that they make."""
import numpy

from .vectors import dot

EDGE = 1e-7  # mm: what lies nearer than this is one place
NEVER = numpy.inf


def rotation(axis, degrees):
    """Rodrigues's formula."""
    axis, angle = numpy.array(axis, float), numpy.radians(degrees)
    axis /= numpy.linalg.norm(axis)
    x, y, z = axis
    k = numpy.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return numpy.eye(3) + numpy.sin(angle) * k + (1 - numpy.cos(angle)) * (k @ k)


class Box:
    def __init__(self, x, y, z):
        self.half = numpy.array([x, y, z], float)

    def crossings(self, point, direction):
        """Where the line enters and leaves; behind the other where it misses. And both outward normals."""
        with numpy.errstate(divide="ignore", invalid="ignore"):
            inverse = 1 / direction
            half = numpy.copysign(self.half[:, None], direction)
            first, last = (-half - point) * inverse, (half - point) * inverse
        parallel = direction == 0
        if parallel.any():
            within = numpy.abs(point) <= self.half[:, None]
            first[parallel] = numpy.where(within, -NEVER, NEVER)[parallel]
            last[parallel] = NEVER
        into, out = first.argmax(axis=0), last.argmin(axis=0)
        each = numpy.arange(point.shape[1])
        return first[into, each], last[out, each], (into, out, direction)

    @staticmethod
    def normal(_, found, leaves, chosen):
        into, out, direction = found
        axis = numpy.where(leaves, out, into)[chosen]
        normal = numpy.zeros((3, chosen.sum()))
        each = numpy.arange(normal.shape[1])
        normal[axis, each] = numpy.sign(direction[:, chosen][axis, each]) * numpy.where(leaves[chosen], 1, -1)
        return normal

    def inside(self, point):
        return (numpy.abs(point) < self.half[:, None]).all(axis=0)

    def mesh(self):
        corners = numpy.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]) * self.half
        quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
        return corners, numpy.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])


class Sphere:
    def __init__(self, radius, fineness=6):
        self.radius, self.fineness = float(radius), fineness

    def crossings(self, point, direction):
        middle = -dot(point, direction)
        nearest = dot(point, point) - middle * middle
        half = numpy.sqrt(numpy.maximum(self.radius**2 - nearest, 0))
        missed = nearest > self.radius**2
        return numpy.where(missed, NEVER, middle - half), numpy.where(missed, -NEVER, middle + half), None

    def normal(self, reached, _, __, chosen):
        return reached[:, chosen] / self.radius

    def inside(self, point):
        return dot(point, point) < self.radius**2

    def mesh(self):
        """An icosahedron whose faces are split; as large as the sphere on average over directions."""
        g = (1 + 5**0.5) / 2
        points = [numpy.array(p, float) for p in ((-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0), (0, -1, g), (0, 1, g),
                                                  (0, -1, -g), (0, 1, -g), (g, 0, -1), (g, 0, 1), (-g, 0, -1), (-g, 0, 1))]
        points = [p / numpy.linalg.norm(p) for p in points]
        faces = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6),
                 (7, 1, 8), (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10), (8, 6, 7),
                 (9, 8, 1)]
        for _ in range(self.fineness):
            middles, finer = {}, []

            def middle(a, b):
                key = (min(a, b), max(a, b))
                if key not in middles:
                    sum_ = points[a] + points[b]
                    middles[key] = len(points)
                    points.append(sum_ / numpy.linalg.norm(sum_))
                return middles[key]

            for a, b, c in faces:
                ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
                finer += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
            faces = finer
        points, faces = numpy.array(points), numpy.array(faces)
        a, b, c = (points[faces[:, i]] for i in range(3))
        volume = numpy.einsum("ij,ij->", a, numpy.cross(b, c)) / 6
        return points * self.radius * (4 / 3 * numpy.pi / volume) ** (1 / 3), faces


class Solid:
    """A placed volume. `move` and `turn` are relative to its mother."""

    def __init__(self, name, shape, material, mother=None, move=(0, 0, 0), turn=None):
        self.name, self.shape, self.material, self.mother = name, shape, material, mother
        self.move, self.turn = numpy.array(move, float), numpy.eye(3) if turn is None else turn
        if mother is None:
            self.at, self.rotation = self.move, self.turn
        else:
            self.at, self.rotation = mother.at + mother.rotation @ self.move, mother.rotation @ self.turn

    def local(self, point):
        return self.rotation.T @ (point - self.at[:, None])


class World:
    """Solids, mothers before their daughters. Daughters of one mother don't overlap, and lie within it."""

    def __init__(self, solids):
        self.solids = solids
        self.mothers = [solids.index(s.mother) if s.mother else -1 for s in solids]

    def locate(self, point):
        """The innermost solid around each point; -1 outside of all."""
        found = numpy.full(point.shape[1], -1)
        for number, solid in enumerate(self.solids):
            within = (found == self.mothers[number]).nonzero()[0]
            found[within[solid.shape.inside(solid.local(point[:, within]))]] = number
        return found

    def next(self, point, direction, inside):
        """From a point within a solid: the distance to the next boundary, and the normal there, against the photon."""
        distance = numpy.full(point.shape[1], NEVER)
        normal = numpy.zeros_like(point)
        for number, solid in enumerate(self.solids):
            each = ((inside == number) | (inside == self.mothers[number])).nonzero()[0]
            if not len(each):
                continue
            leaves = inside[each] == number
            here = solid.local(point[:, each])
            way = solid.rotation.T @ direction[:, each]
            first, last, found = solid.shape.crossings(here, way)
            # What faces the wrong way at the photon's own place was crossed, or reflected it, just before.
            enters = (first > -EDGE) & (last > first) & (last > EDGE)
            there = numpy.where(leaves, numpy.maximum(last, 0), numpy.where(enters, numpy.maximum(first, 0), NEVER))
            nearer = there < distance[each]
            if not nearer.any():
                continue
            reached = here + numpy.where(nearer, there, 0) * way
            outward = solid.rotation @ solid.shape.normal(reached, found, leaves, nearer)
            chosen = each[nearer]
            distance[chosen] = there[nearer]
            normal[:, chosen] = outward
        turned = dot(normal, direction) > 0
        normal[:, turned] *= -1
        return distance, normal
