# SPDX-License-Identifier: Apache-2.0
"""Writes a world with its optics as GDML, for raylift to read, and what GDML has no words for as a sidecar."""
import json
import math

from .shapes import Box
from .tables import HC

OWN_MODELS = ("simple", "dichroic")  # Chroma's, and one that needs files


def solid(s):
    if isinstance(s.shape, Box):
        x, y, z = 2 * s.shape.half
        return f'<box name="{s.name}_solid" x="{x!r}" y="{y!r}" z="{z!r}"/>'
    return f'<orb name="{s.name}_solid" r="{s.shape.radius!r}"/>'


def place(s):
    """GDML rotates a placed volume by the inverse of Rz Ry Rx."""
    r = s.turn.T
    angles = math.atan2(r[2, 1], r[2, 2]), -math.asin(r[2, 0]), math.atan2(r[1, 0], r[0, 0])
    numbers = [" ".join(f'{axis}="{float(v)!r}"' for axis, v in zip("xyz", values)) for values in (s.move, angles)]
    return (f'<physvol name="{s.name}"><volumeref ref="{s.name}_lv"/><position {numbers[0]} unit="mm"/>'
            f'<rotation {numbers[1]} unit="rad"/></physvol>')


def volume(world, s):
    inner = "".join(place(other) for other in world.solids if other.mother is s)
    return (f'<volume name="{s.name}_lv"><materialref ref="{s.material}"/><solidref ref="{s.name}_solid"/>{inner}</volume>')


class Tables:
    """Properties, whose numbers are in matrices with names of their own."""

    def __init__(self):
        self.matrices = []

    def refer(self, owner, key, value):
        name = f"{owner}_{key}"
        if isinstance(value, dict):
            energies = value.get("energy_eV") or [HC / nm for nm in value["wavelength_nm"]]
            pairs = sorted(zip(energies, value["values"]))
            text, columns = " ".join(f"{e * 1e-6!r} {v!r}" for e, v in pairs), 2
        else:
            text, columns = repr(value), 1
        self.matrices.append(f'<matrix name="{name}" coldim="{columns}" values="{text}"/>')
        return f'<property name="{key}" ref="{name}"/>'

    def properties(self, owner, values):
        return "".join(self.refer(owner, key, value) for key, value in values.items())


def split_assignments(optics, surfaces, world):
    """As GDML, and those of which GDML has no words: nothing refers to the world."""
    text, rest = "", []
    for number, assignment in enumerate(optics["assignments"]):
        name = assignment["surface"]
        skin, border = assignment.get("skin"), assignment.get("border")
        ends = [skin["solid"]] if skin else [border["from"]["solid"], border["to"]["solid"]]
        if name not in surfaces or (border and world in ends):
            rest.append(json.loads(json.dumps(assignment).replace(f'"solid": "{world}"', f'"solid": "{world}_lv_PV"')))
        elif skin:
            text += f'<skinsurface name="a{number}" surfaceproperty="{name}"><volumeref ref="{ends[0]}_lv"/></skinsurface>'
        else:
            text += (f'<bordersurface name="a{number}" surfaceproperty="{name}"><physvolref ref="{ends[0]}"/>'
                     f'<physvolref ref="{ends[1]}"/></bordersurface>')
    return text, rest


def write_gdml(world, optics, path):
    tables = Tables()
    materials = "".join(
        f'<material name="{m}" Z="7">{tables.properties(m, optics["materials"].get(m, {}))}<D value="1"/><atom value="14"/></material>'
        for m in sorted({s.material for s in world.solids}))
    surfaces = {name: s for name, s in optics["surfaces"].items() if s["model"] not in OWN_MODELS}
    solids = "".join(
        f'<opticalsurface name="{name}" model="{s["model"]}" finish="{s["finish"].replace("_", "")}" type="{s["type"]}" '
        f'value="{s["value"]!r}">{tables.properties(name, s["properties"])}</opticalsurface>' for name, s in surfaces.items())
    solids += "".join(map(solid, world.solids))
    top = world.solids[0].name
    assigned, rest = split_assignments(optics, surfaces, top)
    structure = "".join(volume(world, s) for s in reversed(world.solids)) + assigned
    path.write_text(f'<?xml version="1.0"?><gdml><define>{"".join(tables.matrices)}</define><materials>{materials}</materials>'
                    f'<solids>{solids}</solids><structure>{structure}</structure>'
                    f'<setup name="Default" version="1.0"><world ref="{top}_lv"/></setup></gdml>')
    sidecar = {"raylift_optics": 1, "assignments": rest,
               "surfaces": {name: s for name, s in optics["surfaces"].items() if name not in surfaces}}
    sidecar.update({key: optics[key] for key in ("channels", "channel_types") if key in optics})
    path.with_suffix(".optics.json").write_text(json.dumps(sidecar))
