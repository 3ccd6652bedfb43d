# SPDX-License-Identifier: Apache-2.0
"""Looks into the files of `raylift photons` with NumPy, and counts anew what its summary says.

check_photons.py RAYLIFT SOURCE_DIR
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

raylift, source_dir = sys.argv[1], pathlib.Path(sys.argv[2])
# Opticks's flags, by their bits.
ENDS = {"absorbed": 3, "detected": 6, "absorbed_at_surface": 7, "escaped": 2, "cut": 14}
BITS = {"TORCH": 12, "MISS": 2, "BULK_ABSORB": 3, "BULK_REEMIT": 4, "BULK_SCATTER": 5, "SURFACE_DETECT": 6,
        "SURFACE_ABSORB": 7, "BOUNDARY_REFLECT": 10, "BOUNDARY_TRANSMIT": 11, "CUT": 14}


def run(folder, *options):
    command = [raylift, "photons", source_dir / "data/detector.dae", "--device", "host", "--source", "ball:0,0,0,500", "--seed", "3",
               "--photons", "20k", "--final", "--seq", "--record", "30", "--times", "10,0,50", "--max-steps", "20",
               "--output", folder, "-q", *options]
    subprocess.run(list(map(str, command)), check=True, capture_output=True)


def flags_of(sequence):
    """The mask of flags of a photon's first 32 events."""
    mask = 0
    for slot in range(32):
        number = int(sequence[0, slot // 16]) >> (4 * (slot % 16)) & 15
        mask |= 1 << number >> 1
    return mask


def check_opticks(folder):
    summary = json.load(open(folder / "summary.json"))
    final, hits = numpy.load(folder / "final.npy"), numpy.load(folder / "hits.npy")
    assert final.dtype == numpy.float32 and final.shape == (20000, 4, 4), final.shape
    words = final.view(numpy.uint32)[:, 3]
    flag = words[:, 0] & 0xFFFF
    for name, count in summary["ends"].items():
        here = int((flag == 1 << ENDS[name]).sum()) if name in ENDS else 0
        assert here == count, (name, here, count)
        for rows in ("materials", "surfaces"):
            parts = sum(row["ends"][name] for row in summary[rows])
            assert parts == count if rows == "materials" else parts <= count
    assert sum(summary["ends"].values()) == summary["photons"] == 20000
    at_surface = words[:, 0] >> 16
    for row in summary["surfaces"]:
        assert row["photons"] == sum(row["ends"].values())
    assert int((at_surface != 0xFFFF).sum()) == sum(row["photons"] for row in summary["surfaces"])
    assert (words[:, 2] == numpy.arange(20000)).all()

    detected = flag == 1 << 6
    assert (hits.view(numpy.uint32) == final[detected].view(numpy.uint32)).all() and len(hits) == summary["ends"]["detected"] > 500
    assert (numpy.diff(hits.view(numpy.uint32)[:, 3, 2].astype(numpy.int64)) > 0).all()
    channels = numpy.load(folder / "channels.npy")
    numbers, counts = numpy.unique(hits.view(numpy.uint32)[:, 3, 1] - 1, return_counts=True)
    there = dict(zip(channels[:, 0].tolist(), channels[:, 1].tolist()))
    assert {n: c for n, c in there.items() if c} == dict(zip(numbers.tolist(), counts.tolist()))
    assert len(channels) == summary["channels"]["count"] and len(numbers) == summary["channels"]["hit"]
    times = numpy.load(folder / "times.npy")
    assert times.shape == (len(channels), 10) and (times.sum(axis=1) == channels[:, 1]).all()
    # As floats have it: 50 ns in 10 bins.
    bins = numpy.clip((hits[:, 0, 3] / numpy.float32(50) * numpy.float32(10)).astype(int), 0, 9)
    assert (times.sum(axis=0) == numpy.bincount(bins, minlength=10)).all()

    assert numpy.allclose(numpy.linalg.norm(final[:, 1, :3], axis=1), 1, atol=1e-5)
    assert numpy.allclose((final[:, 1, :3] * final[:, 2, :3]).sum(axis=1), 0, atol=1e-4)
    sequences = numpy.load(folder / "seq.npy")
    assert sequences.shape == (20000, 2, 2) and (sequences[:, 1] == 0).all() and (sequences[:, 0, 0] & 15 == 13).all()
    for i in range(0, 20000, 7):
        assert flags_of(sequences[i]) == words[i, 3], i
        assert words[i, 3] & flag[i]
    # Steps: all events but the births and the cuts.
    events = sum((sequences[:, 0, slot // 16] >> numpy.uint64(4 * (slot % 16)) & numpy.uint64(15)) != 0 for slot in range(32))
    assert int(events.sum()) - 20000 - summary["ends"]["cut"] == summary["steps"]

    record = numpy.load(folder / "record.npy")
    assert record.shape == (30, 32, 4, 4)
    for i in range(30):
        rows = record[i, : events[i]]
        assert (rows[-1].view(numpy.uint32) == final[i].view(numpy.uint32)).all()
        assert (record[i, events[i] :].view(numpy.uint32) == 0).all()
        assert rows[0].view(numpy.uint32)[3, 0] & 0xFFFF == 1 << BITS["TORCH"]
        assert numpy.linalg.norm(rows[0, 0, :3]) < 500.1 and rows[0, 0, 3] == 0
        assert (numpy.diff(rows[:, 0, 3]) >= 0).all()
    return final, hits


def check_chroma(folder, final, hits):
    for name, rows in (("final", final), ("hits", hits)):
        arrays = {path.stem: numpy.load(path) for path in (folder / name).glob("*.npy")}
        words = rows.view(numpy.uint32)
        assert (arrays["pos"] == rows[:, 0, :3]).all() and (arrays["dir"] == rows[:, 1, :3]).all()
        assert (arrays["pol"] == rows[:, 2, :3]).all() and (arrays["wavelengths"] == rows[:, 2, 3]).all()
        assert (arrays["t"] == rows[:, 0, 3]).all() and (arrays["channel"] == words[:, 3, 1].astype(numpy.int32) - 1).all()
        assert arrays["channel"].dtype == numpy.int32 and arrays["flags"].dtype == numpy.uint32
        # Chroma: BULK_ABSORB 2, SURFACE_DETECT 4, SURFACE_ABSORB 8, RAYLEIGH_SCATTER 16, REFLECT_SPECULAR 64, BULK_REEMIT 512.
        for opticks, chroma in ((3, 2), (6, 4), (7, 8), (5, 16), (10, 64), (4, 512)):
            assert ((words[:, 3, 3] >> opticks & 1 != 0) == (arrays["flags"] & chroma != 0)).all(), (opticks, chroma)


def check_archives(folder):
    """Photons out of NumPy's archives, stored and deflated, are those of a folder."""
    columns = {name: numpy.load(folder / "chroma/final" / f"{name}.npy") for name in ("pos", "dir", "pol", "wavelengths", "t")}
    archive = folder / "start.npz"

    def start(source, name, *options):
        command = [raylift, "photons", source_dir / "data/detector.dae", "--device", "host", "--source", f"photons:{source}",
                   "--final", "--max-steps", "3", "--output", folder / name, *options]
        return subprocess.run(list(map(str, command)), capture_output=True, text=True)

    def same(name, other):
        return (folder / name / "final.npy").read_bytes() == (folder / other / "final.npy").read_bytes()

    def refused(code, what, *options):
        ended = start(archive, "refused", *options)
        assert ended.returncode == code and what in ended.stderr, (what, ended.returncode, ended.stderr)

    assert start(folder / "chroma/final", "of folder").returncode == 0
    for save in (numpy.savez, numpy.savez_compressed):
        save(archive, **columns, flags=numpy.arange(3))
        assert start(archive, "of archive").returncode == 0
        assert same("of archive", "of folder")
        summary = json.load(open(folder / "of archive/summary.json"))
        assert summary["births"] == {"cerenkov": 0, "scintillation": 0, "torch": 20000}

        whole = archive.read_bytes()
        archive.write_bytes(whole[: len(whole) // 2])
        refused(4, "no readable zip archive")
        archive.write_bytes(whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:])
        refused(4, "corrupted")
        archive.write_bytes(b"")
        refused(4, "empty")
        save(archive, **(columns | {"dir": columns["dir"][:-1]}))
        refused(4, "it has 19999 rows, and pos.npy has 20000 [" + str(archive / "dir.npy"))
        save(archive, **(columns | {"t": columns["t"].astype(numpy.float64)}))
        refused(5, "is an array of '<f8' [" + str(archive / "t.npy"))
        save(archive, pos=columns["pos"], wavelengths=columns["wavelengths"])
        refused(4, "the array is not there [" + str(archive / "dir.npy"))
    # 80 MB of zeros in 80 kB.
    numpy.savez_compressed(archive, pos=numpy.zeros((7_000_000, 3), numpy.float32))
    refused(6, "larger than 100 times the file")
    refused(6, "larger than the limit of 1000000 bytes", "--max-text-size", "1M")
    refused(4, "dir.npy", "--max-expansion", "10k")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    run(folder / "opticks")
    run(folder / "chroma", "--format", "chroma")
    check_chroma(folder / "chroma", *check_opticks(folder / "opticks"))
    check_archives(folder)
    for other in ("seq", "channels", "times", "record"):
        assert (folder / "opticks" / f"{other}.npy").read_bytes() == (folder / "chroma" / f"{other}.npy").read_bytes()
