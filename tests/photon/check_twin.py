# SPDX-License-Identifier: Apache-2.0
"""Compares `raylift photons` with the simulator in twin/, in four scenes; and with planted faults, which must be seen.

check_twin.py RAYLIFT [--scenes a,b] [--format collada|gdml] [--photons N] [--seed N] [--faults some|all|none] [--jobs N] [--keep DIR]
check_twin.py RAYLIFT --list

In each scene both follow as many photons, with random numbers of their own. They agree if
- histories do by chi-square (Opticks's rule: those that occur 30 times or less in both together count as one),
- so do the solids where photons end, by kind of end,
- and for each kind of end, positions, times, wavelengths, directions and polarisations: their means within 4 standard errors,
  and their histograms by chi-square.
A fault is one constant of the twin's optics that is 2 % off; then they must not agree.
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy

from twin.collada import write_collada
from twin.events import ENDS
from twin.follow import Result, Simulator
from twin.gdml import write_gdml
from twin.scenes import SCENES
from twin.statistics import compare_counts, compare_keys, compare_means

CHUNK = 20_000
LEAST_PROBABILITY = 1e-4
MOST_ERRORS = 4.0
NAMES = {13: "TO", 6: "SC", 5: "RE", 12: "BT", 11: "BR", 4: "AB", 8: "SA", 7: "SD", 3: "MI", 14: "NA", 15: "CU"}


def of_raylift(program, scene, count, seed, folder, in_gdml):
    """What raylift makes of a scene, as a Result."""
    file = folder / ("scene.gdml" if in_gdml else "scene.dae")
    if in_gdml:
        write_gdml(scene.world, scene.optics, file)
    else:
        write_collada(scene.world, file)
        (folder / "scene.optics.json").write_text(json.dumps(scene.optics))
    command = [program, "photons", file, *(["--steps", "400"] if in_gdml else []), "--device", os.environ.get("RAYLIFT_TWIN_DEVICE", "host"), "--source",
               scene.source.text(), "--photons", str(count), "--seed", str(seed), "--seq", "--final", "--output", folder / "run", "-q"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    rows, sequences = numpy.load(folder / "run/final.npy"), numpy.load(folder / "run/seq.npy")
    words = rows.view(numpy.uint32)
    result = Result(0)
    result.position, result.direction, result.polarisation = (rows[:, i, :3].T.astype(float) for i in range(3))
    result.time, result.wavelength = rows[:, 0, 3].astype(float), rows[:, 2, 3].astype(float)
    # A flag is 1 << n, and the event's number in a history n + 1.
    result.end = (numpy.log2(words[:, 3, 0] & 0xFFFF) + 1.5).astype(numpy.uint8)
    result.solid, result.history = words[:, 1, 3].astype(int), sequences[:, 0]
    return result


def chunk(task):
    name, optics, count, seed = task
    scene = SCENES[name]()
    rng = numpy.random.default_rng(seed)
    return Simulator(scene.world, optics).follow(rng, scene.source.births(rng, count))


def of_twin(pool, scene, optics, count, seed):
    sizes = [min(CHUNK, count - first) for first in range(0, count, CHUNK)]
    seeds = numpy.random.SeedSequence(seed).spawn(len(sizes))
    return Result.joined(pool.map(chunk, [(scene.name, optics, size, s) for size, s in zip(sizes, seeds)], chunksize=1))


def key_of(history):
    """One number of a history's two words."""
    return history[:, 0] ^ (history[:, 1] * numpy.uint64(0x9E3779B97F4A7C15))


def quantities(photons, chosen):
    """What is compared of some photons; a polarisation by products, since its sign has no meaning."""
    x, d, e = (a[:, chosen] for a in (photons.position, photons.direction, photons.polarisation))
    result = {"time": photons.time[chosen], "wavelength": photons.wavelength[chosen]}
    for i, axis in enumerate("xyz"):
        result[axis], result["direction " + axis] = x[i], d[i]
        for j in range(i, 3):
            both = axis + "xyz"[j]
            result["position " + both], result["direction " + both] = x[i] * x[j], d[i] * d[j]
            result["polarisation " + both] = e[i] * e[j]
    return result


def event_counts(history):
    """How many events of each kind a photon had, of its first 32."""
    counts = numpy.zeros((16, len(history)), numpy.uint8)
    each = numpy.arange(len(history))
    for slot in range(32):
        counts[history[:, slot // 16] >> numpy.uint64(4 * (slot % 16)) & numpy.uint64(15), each] += 1
    return counts


def histogram(a, b):
    """Two samples in 40 bins that are about equally full. Rounded, since many photons end in a plane, or at one time."""
    a, b = numpy.round(a, 2), numpy.round(b, 2)
    edges = numpy.unique(numpy.quantile(numpy.concatenate([a, b]), numpy.linspace(0, 1, 41)[1:-1]))
    return [numpy.bincount(numpy.searchsorted(edges, s), minlength=len(edges) + 1) for s in (a, b)]


class Comparison:
    """Texts of all that disagrees, and a summary."""

    def __init__(self):
        self.wrong, self.most, self.least = [], 0.0, 1.0

    def probability(self, what, found, more=()):
        chi_square, freedom, probability = found
        self.least = min(self.least, probability)
        if probability < LEAST_PROBABILITY:
            self.wrong.append(f"{what}: chi-square {chi_square:.1f} of {freedom}, {probability:.2g}")
            self.wrong += [f"  {text:40} {count_a:8} {count_b:8}" for text, count_a, count_b in more]

    def mean(self, what, a, b, bound=MOST_ERRORS):
        errors = compare_means(a, b)
        self.most = max(self.most, abs(errors))
        if abs(errors) > bound:
            self.wrong.append(f"{what}: {a.mean():.6g} and {b.mean():.6g}, {errors:.1f} standard errors")


def compare_histories(result, a, b):
    found, worst = compare_keys(key_of(a.history), key_of(b.history))
    result.histories = (found[1] + 1, found[0], found[2])
    result.probability("histories", found, [(text_of(a, b, key), *counts) for key, *counts in worst])
    # Their beginnings have fewer kinds, so small differences show.
    for events in (2, 3, 4, 6):
        mask = numpy.uint64((1 << 4 * events) - 1)
        result.probability(f"first {events} events", compare_keys(a.history[:, 0] & mask, b.history[:, 0] & mask)[0])
    counts = [event_counts(photons.history) for photons in (a, b)]
    for event in (6, 5, 11, 12):
        result.mean(f"number of {NAMES[event]}", *(count[event].astype(float) for count in counts))


def compare(a, b):
    result = Comparison()
    compare_histories(result, a, b)
    result.probability("ends", compare_keys(a.end, b.end)[0])
    places = [photons.end.astype(int) * 1000 + photons.solid for photons in (a, b)]
    result.probability("ends by solid", compare_keys(*places)[0])
    groups = [(name, a.end == end, b.end == end, MOST_ERRORS) for name, end in ENDS.items()]
    # There are more of these, and so there is more chance.
    groups += [(f"{place // 1000} in solid {place % 1000}", places[0] == place, places[1] == place, MOST_ERRORS + 0.5)
               for place in numpy.unique(places[0])]
    for name, in_a, in_b, bound in groups:
        if min(in_a.sum(), in_b.sum()) < 1000:
            continue
        of_b = quantities(b, in_b)
        for what, values in quantities(a, in_a).items():
            result.mean(f"{name}: {what}", values, of_b[what], bound)
            if what in ("time", "wavelength", "x", "y", "z"):
                result.probability(f"{name}: {what}", compare_counts(*histogram(values, of_b[what])))
    return result


def text_of(a, b, key):
    """A history's events, by the keys of both samples."""
    for photons in (a, b):
        found = (key_of(photons.history) == key).nonzero()[0]
        if len(found):
            words = [int(w) for w in photons.history[found[0]]]
            events = [words[slot // 16] >> 4 * (slot % 16) & 15 for slot in range(32)]
            return " ".join(NAMES.get(event, "?") for event in events if event)
    return "?"


def check(pool, scene, options, folder):
    started = time.monotonic()
    mine = of_raylift(options.raylift, scene, options.photons, options.seed, folder, options.format == "gdml")
    ran = time.monotonic()
    twins = of_twin(pool, scene, scene.optics, options.photons, options.seed)
    found = compare(mine, twins)
    number, chi_square, probability = found.histories
    print(f"{scene.name}: {options.photons} photons, {number} histories, chi-square {chi_square:.1f}, probability "
          f"{probability:.3f}; least of all probabilities {found.least:.2g}; means at most {found.most:.2f} standard errors off; "
          f"{twins.events.mean():.1f} events; raylift {ran - started:.1f} s, twin {time.monotonic() - ran:.1f} s", flush=True)
    for text in found.wrong:
        print("  WRONG: " + text)
    failed = bool(found.wrong)
    for place in {"all": scene.faults, "some": scene.faults[:1], "none": []}[options.faults]:
        seen = compare(mine, of_twin(pool, scene, scene.with_fault(place), options.photons, options.seed + 1)).wrong
        failed = failed or not seen
        print(f"  fault {' '.join(map(str, place[1:]))}: {seen[0] if seen else 'NOT SEEN'}", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("raylift")
    parser.add_argument("--scenes", default=",".join(SCENES))
    parser.add_argument("--format", choices=["collada", "gdml"], default="collada", help="of the scenes, for raylift")
    parser.add_argument("--photons", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=20261122)
    parser.add_argument("--faults", choices=["all", "some", "none"], default="some")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--list", action="store_true", help="print the scenes' names, and do nothing else")
    options = parser.parse_args()
    if options.list:
        print(*sorted(SCENES))
        return
    failed = False
    with multiprocessing.Pool(options.jobs) as pool, tempfile.TemporaryDirectory() as name:
        for scene in options.scenes.split(","):
            folder = (options.keep or pathlib.Path(name)) / scene
            folder.mkdir(parents=True, exist_ok=True)
            failed = check(pool, SCENES[scene](), options, folder) or failed
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
