# SPDX-License-Identifier: Apache-2.0
"""raylift puts triangle geometry on a GPU, and traces rays and photons through it.

    import raylift as rl

    scene = rl.load("detector.dae")
    geometry = rl.upload(scene, device="auto")
    hits = geometry.trace(origins, directions)        # arrays of NumPy, CuPy, PyTorch, Numba, JAX
    result = rl.propagate(geometry, "point:0,0,0", photons=1_000_000)
    result.hits.position

Lengths are millimetres, times nanoseconds, wavelengths nanometres. A solid is a placed volume, as Geant4's physical
volume. docs/python.md is the guide.
"""
from importlib import import_module
from types import ModuleType

from ._raylift import (
    Array as Array,
    Device as Device,
    Function as Function,
    Geometry as Geometry,
    Mesh as Mesh,
    Module as Module,
    Scene as Scene,
    Stream as Stream,
    __version__ as __version__,
    check as check,
    data_folder as data_folder,
    find_overlaps as find_overlaps,
    hit_dtype as hit_dtype,
    load as load,
    photon_dtype as photon_dtype,
    propagate as propagate,
    ray_dtype as ray_dtype,
    step_kinds as step_kinds,
    supported_extensions as supported_extensions,
    upload as upload,
)
from .client import Client as Client, ClientResult as ClientResult
from .errors import (
    Error as Error,
    InvalidDataError as InvalidDataError,
    OutOfMemoryError as OutOfMemoryError,
    UsageError as UsageError,
)
from .hits import Hits as Hits
from .optics import Optics as Optics, Table as Table
from .photons import Photons as Photons, Propagation as Propagation, start_photons as start_photons
from .report import Report as Report
from .scenes import scene_of as scene_of
from .running_viewer import Viewer as Viewer
from .viewer import view as view, write_collada as write_collada

__all__ = [
    "Array", "Client", "ClientResult", "Device", "Error", "Function", "Geometry", "Hits", "InvalidDataError", "Mesh", "Module", "Optics",
    "OutOfMemoryError", "Photons", "Propagation", "Report", "Scene", "Stream", "Table", "UsageError", "Viewer",
    "__version__", "check", "data_folder", "find_overlaps", "hit_dtype", "load", "photon_dtype", "propagate", "ray_dtype",
    "scene_of", "start_photons", "step_kinds", "supported_extensions", "upload", "view", "write_collada",
]


def __getattr__(name: str) -> ModuleType:
    """Imports ``raylift.trimesh`` and ``raylift.open3d`` where they are first used."""
    if name in ("open3d", "trimesh"):
        return import_module("." + name, __name__)
    raise AttributeError(f"module 'raylift' has no attribute '{name}'")
