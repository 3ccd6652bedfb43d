# SPDX-License-Identifier: Apache-2.0
"""The viewer: raylift-view as a process of its own, and COLLADA files for it."""
from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import weakref
from typing import Any, Iterable, TextIO
from xml.sax.saxutils import quoteattr

import numpy
import numpy.typing

from ._raylift import Scene
from .errors import Error, UsageError
from .photons import Photons, Propagation
from .running_viewer import Viewer

__all__ = ["view", "write_collada"]

# A tetrahedron's corners, and its faces, outward.
_CORNERS = numpy.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], float) / numpy.sqrt(3)
_FACES = numpy.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]])


def view(scene: Scene, photons: Any = None, *, output: str | os.PathLike[str] | None = None, size: float | None = None,
         program: str | None = None, options: Iterable[str] = (), viewer: Viewer | None = None) -> Viewer:
    """Starts raylift-view on a scene and returns a Viewer, whose methods are its verbs. It continues when Python ends.

    photons: a Propagation (its record as lines, its final photons or else its hits as points), Photons, as points, or
    positions (N, 3) in millimetres, as tetrahedra. output: draw an image file, without a window, and wait for it. size: of
    these tetrahedra, mm; by default 1/300 of the scene. program: the viewer; by default $RAYLIFT_VIEW, or raylift-view in
    $PATH. options: more of its command line, such as ("--photon-color", "time"). viewer: one that runs, which shows the
    scene in place of its own, all photons as tetrahedra, and saves `output` once it does. Raises raylift.Error: system (no
    viewer), io, and what the viewer answers.
    """
    options = list(options)
    if viewer is not None and (program is not None or options):
        raise UsageError("a viewer that runs takes no program and no options: it has them")
    command = [] if viewer is not None else [_program(program)]
    folder: str | None = None
    path = scene.source
    arrays = _arrays(photons) if viewer is None else {}
    marks = None if arrays else photons
    if photons is not None or not os.path.exists(path):
        folder = tempfile.mkdtemp(prefix="raylift-view-")
    if folder is not None and (marks is not None or not os.path.exists(path)):
        path = os.path.join(folder, "scene.dae")
        write_collada(scene, path, marks, size=size)
    if viewer is None:
        command.append(path)
        if folder is not None and arrays:
            for name, array in arrays.items():
                numpy.save(os.path.join(folder, name), array)
            command += ["--photons", folder]
        command += options
        if output is not None:
            command += ["--output", os.fspath(output)]
        viewer = Viewer(process=subprocess.Popen(command))
        if output is not None and (code := viewer.wait()) != 0:
            raise Error(f"raylift-view ended with {code}", "io")
        output = None
    else:
        viewer.open(path)
    if folder is not None:
        weakref.finalize(viewer, shutil.rmtree, folder, ignore_errors=True)
    if output is not None:
        viewer.screenshot(output)
    return viewer


def _program(given: str | None) -> str:
    program = given or os.environ.get("RAYLIFT_VIEW") or shutil.which("raylift-view")
    if program is None:
        raise Error("raylift-view is not in $PATH: install raylift's component viewer, or set RAYLIFT_VIEW", "system")
    return program


def _arrays(photons: Any) -> dict[str, numpy.typing.NDArray[Any]]:
    """The files of a run, as `raylift photons` writes them; none for other folders."""
    if isinstance(photons, Photons):
        return {"hits.npy": photons.opticks}
    arrays: dict[str, numpy.typing.NDArray[Any]] = {}
    if isinstance(photons, Propagation):
        if photons.record is not None:
            arrays["record.npy"] = photons.record.view(numpy.float32).reshape(*photons.record.shape, 4, 4)
        if photons.finals is not None:
            arrays["final.npy"] = photons.finals.opticks
        elif photons.hits is not None:
            arrays["hits.npy"] = photons.hits.opticks
    return arrays


def write_collada(scene: Scene, path: str | os.PathLike[str], photons: Any = None, *,
                  size: float | None = None) -> None:
    """Writes a scene's meshes, solids, names and colours as COLLADA, in millimetres; without optics.

    photons: places, marked by a solid of their own: a Propagation (its hits, and the tracks of its record), Photons, or
    positions (N, 3). size: of the marks, as view() has it.
    """
    with open(path, "w", encoding="utf-8") as file:
        _write(scene, file, *_marks(scene, photons, size))


def _marks(scene: Scene, photons: Any, size: float | None) -> tuple[numpy.typing.NDArray[Any], ...]:
    """Vertices and triangles that represent photons."""
    if photons is None:
        return numpy.zeros((0, 3)), numpy.zeros((0, 3), int)
    bounds = scene.bounds
    mark = size if size is not None else float(numpy.linalg.norm(bounds[1] - bounds[0])) / 300 or 1.0
    places: list[numpy.typing.NDArray[Any]] = []
    tracks: list[numpy.typing.NDArray[Any]] = []
    if isinstance(photons, Propagation):
        if photons.hits is not None:
            places.append(photons.hits.position)
        if photons.record is not None:
            tracks = [row["position"][row["flag"] != 0] for row in photons.record]
    else:
        positions = photons.position if isinstance(photons, Photons) else photons
        places.append(numpy.asarray(positions, float).reshape(-1, 3))
    points = numpy.concatenate(places) if places else numpy.zeros((0, 3))
    vertices = (points[:, None, :] + mark * _CORNERS).reshape(-1, 3)
    triangles = (4 * numpy.arange(len(points))[:, None, None] + _FACES).reshape(-1, 3)
    for track in tracks:
        # A ribbon: two triangles for each step.
        first, count = len(vertices), len(track)
        ribbon = numpy.concatenate([track, track + [0, 0, mark / 4]])
        steps = first + numpy.arange(max(count - 1, 0))
        vertices = numpy.concatenate([vertices, ribbon])
        triangles = numpy.concatenate([triangles, numpy.stack([steps, steps + 1, steps + count], 1),
                                       numpy.stack([steps + 1, steps + 1 + count, steps + count], 1)])
    return vertices, triangles


def _numbers(values: numpy.typing.NDArray[Any]) -> str:
    flat = numpy.asarray(values).ravel()
    return " ".join(repr(number) for number in flat.tolist())


def _source(identity: str, values: numpy.typing.NDArray[Any]) -> str:
    return (f'<source id="{identity}"><float_array id="{identity}a" count="{values.size}">{_numbers(values)}</float_array>'
            f'<technique_common><accessor source="#{identity}a" count="{len(values)}" stride="3"><param name="X" '
            f'type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common>'
            f"</source>")


def _geometry(index: int, name: str, vertices: numpy.typing.NDArray[Any], triangles: numpy.typing.NDArray[Any],
              parts: list[tuple[int, int]]) -> str:
    primitives = "".join(
        f'<triangles count="{count}" material="part{part}"><input semantic="VERTEX" source="#g{index}v" offset="0"/>'
        f"<p>{_numbers(triangles[first:first + count])}</p></triangles>"
        for part, (first, count) in enumerate(parts) if count)
    return (f'<geometry id="g{index}" name={quoteattr(name)}><mesh>{_source(f"g{index}p", vertices)}'
            f'<vertices id="g{index}v"><input semantic="POSITION" source="#g{index}p"/></vertices>{primitives}'
            f"</mesh></geometry>\n")


def _node(name: str, transform: numpy.typing.NDArray[Any], geometry: int, material: int, parts: int) -> str:
    bound = "".join(f'<instance_material symbol="part{part}" target="#m{material}"/>' for part in range(parts))
    binding = f"<bind_material><technique_common>{bound}</technique_common></bind_material>" if material >= 0 else ""
    matrix = _numbers(numpy.concatenate([transform, [[0.0, 0.0, 0.0, 1.0]]]))
    return (f"<node name={quoteattr(name)}><matrix>{matrix}</matrix>"
            f'<instance_geometry url="#g{geometry}">{binding}</instance_geometry></node>\n')


def _write(scene: Scene, file: TextIO, marks: numpy.typing.NDArray[Any],
           mark_triangles: numpy.typing.NDArray[Any]) -> None:
    meshes = scene.meshes
    names = [*scene.materials, "photons"]
    colors = [*scene.material_colors.tolist(), [1.0, 0.55, 0.0, 1.0]]
    file.write('<?xml version="1.0" encoding="utf-8"?>\n<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" '
               'version="1.4.1"><asset><unit name="millimeter" meter="0.001"/>'
               f"<up_axis>{scene.up_axis.upper()}_UP</up_axis></asset>\n<library_effects>\n")
    for index, color in enumerate(colors):
        file.write(f'<effect id="e{index}"><profile_COMMON><technique sid="c"><lambert><diffuse><color>'
                   f"{_numbers(numpy.array(color))}</color></diffuse></lambert></technique></profile_COMMON></effect>\n")
    file.write("</library_effects>\n<library_materials>\n")
    for index, name in enumerate(names):
        file.write(f'<material id="m{index}" name={quoteattr(name)}><instance_effect url="#e{index}"/></material>\n')
    file.write("</library_materials>\n<library_geometries>\n")
    for index, mesh in enumerate(meshes):
        file.write(_geometry(index, mesh.name, mesh.vertices, mesh.triangles, mesh.parts))
    if len(marks):
        file.write(_geometry(len(meshes), "photons", marks, mark_triangles, [(0, len(mark_triangles))]))
    file.write('</library_geometries>\n<library_visual_scenes><visual_scene id="scene">\n')
    for name, transform, mesh_index, material in zip(scene.solid_names, scene.transforms, scene.solid_meshes,
                                                     scene.inside):
        file.write(_node(name, transform, int(mesh_index), int(material), len(meshes[int(mesh_index)].parts)))
    if len(marks):
        file.write(_node("photons", numpy.eye(4)[:3], len(meshes), len(names) - 1, 1))
    file.write('</visual_scene></library_visual_scenes><scene><instance_visual_scene url="#scene"/></scene></COLLADA>\n')
