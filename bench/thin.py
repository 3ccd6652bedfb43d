#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the share of a beam that films absorb, with positions in floats and with those that raylift chooses.

thin.py [--bin FOLDER] [--device DEVICE] [--photons COUNT]: each film is 10 m wide, turned, in a box without absorption, and
absorbs 1 - exp(-0.25) = 0.22120 of the beam. Sigma: the difference from that share in its standard errors.
"""
import argparse
import json
import math
import pathlib
import subprocess
import tempfile

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--bin", default="build/release/bin", help="where raylift is")
parser.add_argument("--device", default="auto")
parser.add_argument("--photons", type=int, default=200_000)
options = parser.parse_args()
raylift = str(pathlib.Path(options.bin).resolve() / "raylift")

DIRECTION = (0.6, -0.64, 0.48)  # from the origin to the film


def box(name, x, y, z):
    corners = " ".join(repr(s * h) for i in range(8) for s, h in zip(((i & 1) * 2 - 1, (i & 2) - 1, (i & 4) / 2 - 1), (x, y, z)))
    return f"""<geometry id="{name}"><mesh><source id="{name}p"><float_array id="{name}a" count="24">{corners}</float_array>
<technique_common><accessor source="#{name}a" count="8" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source><vertices id="{name}v"><input semantic="POSITION"
source="#{name}p"/></vertices><triangles count="12" material="M"><input semantic="VERTEX" source="#{name}v" offset="0"/>
<p>0 2 3 0 3 1 4 5 7 4 7 6 0 1 5 0 5 4 2 6 7 2 7 3 0 4 6 0 6 2 1 3 7 1 7 5</p></triangles></mesh></geometry>"""


def instance(geometry, material):
    return f"""<instance_geometry url="#{geometry}"><bind_material><technique_common><instance_material symbol="M"
target="#{material}"/></technique_common></bind_material></instance_geometry>"""


def rotation():
    """About z and then about y: the rows of a matrix."""
    a, b = 0.7123, 0.4567
    return ((math.cos(b) * math.cos(a), -math.cos(b) * math.sin(a), math.sin(b)), (math.sin(a), math.cos(a), 0.0),
            (-math.sin(b) * math.cos(a), math.sin(b) * math.sin(a), math.cos(b)))


def scene(thickness, distance):
    at = [distance * d for d in DIRECTION]
    matrix = " ".join(" ".join(map(repr, (*row, p))) for row, p in zip(rotation(), at)) + " 0 0 0 1"
    world = distance + 9000.0
    return f"""<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset>
<unit name="mm" meter="0.001"/><up_axis>Z_UP</up_axis></asset><library_effects><effect id="e"><profile_COMMON><technique sid="t">
<phong/></technique></profile_COMMON></effect></library_effects><library_materials><material id="World"><instance_effect
url="#e"/></material><material id="Film"><instance_effect url="#e"/></material></library_materials><library_geometries>
{box("w", world, world, world)}{box("f", 5000.0, 5000.0, thickness / 2)}</library_geometries><library_visual_scenes>
<visual_scene id="s"><node name="world">{instance("w", "World")}<node name="film"><matrix>{matrix}</matrix>
{instance("f", "Film")}</node></node></visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene>
</COLLADA>"""


def optics(path):
    index = {"wavelength_nm": [100, 1000], "values": [1.3, 1.3]}
    length = {"wavelength_nm": [100, 1000], "values": [4 * path] * 2, "unit": "mm"}
    return json.dumps({"raylift_optics": 1, "materials": {"World": {"RINDEX": index}, "Film": {"RINDEX": index, "ABSLENGTH": length}}})


def absorbed(folder, positions, start, along, seed):
    source = "laser:" + ",".join(map(repr, (*start, *along))) + ":wavelength=400"
    command = [raylift, "photons", str(folder / "film.dae"), "--optics", str(folder / "film.json"), "--device", options.device,
               "--positions", positions, "--source", source, "--seed", str(seed), "--photons",
               str(options.photons), "--json",
               "--output", str(folder / "run")]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(run.stderr)
    summary = json.loads(run.stdout)
    return next((m["ends"]["absorbed"] for m in summary["materials"] if m["material"] == "Film"), 0)


right = 1 - math.exp(-0.25)
error = math.sqrt(right * (1 - right) / options.photons)
seed = 0
print("| thickness | distance | angle | floats | sigma | chosen | sigma |\n|---|---|---|---|---|---|---|")
for distance in (0.0, 9000.0, 90000.0):
    for thickness in (1e-5, 1e-4, 2e-3, 0.05, 1.0):
        for degrees in (0.0, 80.0, 88.9):
            angle = math.radians(degrees)
            local = (math.sin(angle) * 0.6, math.sin(angle) * 0.8, math.cos(angle))
            along = [sum(m * v for m, v in zip(row, local)) for row in rotation()]
            start = [distance * d - 40 * a for d, a in zip(DIRECTION, along)]
            seed += 1
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                (folder / "film.dae").write_text(scene(thickness, distance))
                (folder / "film.json").write_text(optics(thickness / math.cos(angle)))
                cells = []
                for positions in ("floats", "automatic"):
                    share = absorbed(folder, positions, start, along, seed) / options.photons
                    cells += [f"{share:.5f}", f"{(share - right) / error:+.1f}"]
            print(f"| {thickness * 1e3:g} um | {distance / 1e3:g} m | {degrees:g} | {' | '.join(cells)} |", flush=True)
