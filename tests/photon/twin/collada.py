# SPDX-License-Identifier: Apache-2.0
"""Writes a world as COLLADA, for raylift to read."""
import xml.sax.saxutils


def numbers(values):
    return " ".join(repr(float(v)) for v in values)


def geometry(name, shape):
    points, faces = shape.mesh()
    return f"""<geometry id="{name}" name="{name}"><mesh>
<source id="{name}-p"><float_array id="{name}-a" count="{points.size}">{numbers(points.ravel())}</float_array>
<technique_common><accessor source="#{name}-a" count="{len(points)}" stride="3">
<param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="{name}-v"><input semantic="POSITION" source="#{name}-p"/></vertices>
<triangles count="{len(faces)}" material="m"><input semantic="VERTEX" source="#{name}-v" offset="0"/>
<p>{" ".join(map(str, faces.ravel()))}</p></triangles></mesh></geometry>
"""


def node(world, solid):
    rows = [*solid.turn[0], solid.move[0], *solid.turn[1], solid.move[1], *solid.turn[2], solid.move[2], 0, 0, 0, 1]
    inner = "".join(node(world, other) for other in world.solids if other.mother is solid)
    return f"""<node id="{solid.name}" name="{solid.name}"><matrix>{numbers(rows)}</matrix>
<instance_geometry url="#{solid.name}-mesh"><bind_material><technique_common>
<instance_material symbol="m" target="#{solid.material}"/></technique_common></bind_material></instance_geometry>
{inner}</node>
"""


def write_collada(world, path):
    materials = sorted({xml.sax.saxutils.escape(solid.material) for solid in world.solids})
    effect = "<profile_COMMON><technique sid=\"t\"><lambert><diffuse><color>1 1 1 1</color></diffuse></lambert></technique></profile_COMMON>"
    path.write_text(f"""<?xml version="1.0" encoding="utf-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><created>2026-11-22T00:00:00Z</created><modified>2026-11-22T00:00:00Z</modified>
<unit name="millimeter" meter="0.001"/><up_axis>Z_UP</up_axis></asset>
<library_effects>{"".join(f'<effect id="{m}-fx">{effect}</effect>' for m in materials)}</library_effects>
<library_materials>{"".join(f'<material id="{m}" name="{m}"><instance_effect url="#{m}-fx"/></material>' for m in materials)}</library_materials>
<library_geometries>{"".join(geometry(s.name + "-mesh", s.shape) for s in world.solids)}</library_geometries>
<library_visual_scenes><visual_scene id="scene">{node(world, world.solids[0])}</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#scene"/></scene>
</COLLADA>
""")
