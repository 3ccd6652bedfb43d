#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ray rates from Python beside C++ on the same rays, and beside trimesh's and Open3D's engines where these are installed.

    PYTHONPATH=~/raylift-python bench/bench_python.py --cpp build/release/bin/bench_ray_file [--device cuda:0]
        [--rays 16000000] [--scene data/detector.dae] [--rounds 5]

Rays are incoherent: origins uniform in a box of half the scene's size, directions isotropic. Prints the best round of
each, in millions of rays a second. On a GPU the rays are CuPy's or PyTorch's.
"""
import argparse
import pathlib
import subprocess
import tempfile
import time

import numpy as np

import raylift as rl

HERE = pathlib.Path(__file__).resolve().parent


def best(rounds, call):
    call()  # once to warm up, as the C++ side does
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def on_device(array, device):
    """The array in the device's memory, by whichever library is there."""
    if device.is_host:
        return array
    number = int(device.id.partition(":")[2])
    try:
        import cupy

        with cupy.cuda.Device(number):
            return cupy.asarray(array)
    except ImportError:
        import torch

        return torch.from_numpy(array).to(f"cuda:{number}")


def show(what, count, seconds, reference=None):
    ratio = "" if reference is None else f"  {reference / seconds:.3f} of C++"
    print(f"{what:34} {count / seconds * 1e-6:10.2f} Mrays/s{ratio}", flush=True)


def peers(scene, geometry, rays, rounds):
    """Others' engines, on one flat mesh of the same triangles and on fewer rays where they are slow."""
    flat = rl.upload(scene, "host", flatten=True)
    vertices, triangles = flat.vertices.numpy() + np.array(flat.origin), flat.triangles.numpy()
    origins = rays[:, :3] + np.array(geometry.origin, np.float32)
    directions = rays[:, 4:7]
    try:
        import trimesh
        from raylift.trimesh import RayMeshIntersector

        mesh = trimesh.Trimesh(vertices, triangles, process=False)
        few = slice(0, min(len(rays), 20_000))
        ours = RayMeshIntersector(mesh, device=geometry.device.id)
        show("raylift.trimesh intersects_first", len(rays),
             best(rounds, lambda: ours.intersects_first(origins, directions)))
        show(f"trimesh {type(mesh.ray).__module__.rpartition('.')[2]}", few.stop,
             best(1, lambda: mesh.ray.intersects_first(origins[few], directions[few])))
    except ImportError as error:
        print(f"trimesh: {error}")
    try:
        import open3d

        theirs = open3d.t.geometry.RaycastingScene()
        theirs.add_triangles(open3d.core.Tensor(vertices.astype(np.float32)),
                             open3d.core.Tensor(triangles.astype(np.uint32)))
        six = open3d.core.Tensor(np.concatenate([origins, directions], 1).astype(np.float32))
        show("Open3D cast_rays", len(rays), best(rounds, lambda: theirs.cast_rays(six)))
    except ImportError as error:
        print(f"Open3D: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cpp", help="the program bench_ray_file")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--rays", type=int, default=16_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scene", default=str(HERE.parent / "data" / "detector.dae"))
    arguments = parser.parse_args()

    scene = rl.load(arguments.scene)
    geometry = rl.upload(scene, arguments.device)
    random = np.random.default_rng(1)
    rays = np.zeros((arguments.rays, 8), np.float32)
    low, high = scene.bounds - np.array(geometry.origin)
    rays[:, :3] = (low + high) / 2 + random.uniform(-0.25, 0.25, (len(rays), 3)) * (high - low)
    rays[:, 4:7] = random.normal(size=(len(rays), 3))
    rays[:, 4:7] /= np.linalg.norm(rays[:, 4:7], axis=1, keepdims=True)
    rays[:, 7] = np.inf
    print(f"{scene}, {geometry.device}, {len(rays)} rays")

    reference = None
    if arguments.cpp:
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/rays.npy", rays)
            run = subprocess.run([arguments.cpp, arguments.scene, f"{folder}/rays.npy", geometry.device.id,
                                  str(arguments.rounds)], check=True, capture_output=True, text=True)
        reference = float(run.stdout)
        show("C++ trace()", len(rays), reference, reference)

    packed, out = on_device(rays, geometry.device), on_device(np.zeros_like(rays), geometry.device)
    show("trace_rays(rays, out=out)", len(rays),
         best(arguments.rounds, lambda: geometry.trace_rays(packed, out=out).synchronize()), reference)
    show("trace_rays(rays)", len(rays),
         best(arguments.rounds, lambda: geometry.trace_rays(packed).synchronize()), reference)
    origins = on_device(np.ascontiguousarray(rays[:, :3] + np.array(geometry.origin, np.float32)), geometry.device)
    directions = on_device(np.ascontiguousarray(rays[:, 4:7]), geometry.device)
    show("trace(origins, directions, out=out)", len(rays),
         best(arguments.rounds, lambda: geometry.trace(origins, directions, out=out).synchronize()), reference)
    peers(scene, geometry, rays, arguments.rounds)


if __name__ == "__main__":
    main()
