# SPDX-License-Identifier: Apache-2.0
"""How users call raylift, for the type checker; test_types.py checks it, and that its mistakes are found."""
import numpy
import raylift as rl
from raylift.open3d import RaycastingScene
from raylift.trimesh import RayMeshIntersector


def use(path: str) -> int:
    scene: rl.Scene = rl.load(path, unit_mm=1.0, progress=True)
    scene.optics.materials["Water"]["ABSLENGTH"] = rl.Table.of_wavelength([200, 800], 1000)
    geometry: rl.Geometry = rl.upload(scene, device=rl.Device("host"), budget=1e9)
    hits: rl.Hits = geometry.trace(numpy.zeros(3), numpy.ones((5, 3)))
    t: numpy.ndarray[object, numpy.dtype[numpy.float32]] = hits.t.numpy()
    vertices: rl.Array = geometry.vertices
    fields: rl.Array = geometry.instances["to_world"][2:5]
    result: rl.Propagation = rl.propagate(geometry, "point:0,0,0", 1000, times=(10, 0, 100))
    if result.hits is not None:
        print(result.hits.position.mean(), result.ends["detected"])
    triangles, rays = RayMeshIntersector(scene).intersects_id(t, t)
    ids, also, places = RayMeshIntersector(scene).intersects_id(t, t, return_locations=True)
    RaycastingScene().cast_rays(t)["t_hit"].max()
    viewer: rl.Viewer = rl.view(scene, photons=result)
    viewer.look(eye=[0, 0, 0])
    rl.view(scene, viewer=viewer).screenshot("x.png")
    try:
        rl.load("nowhere")
    except rl.Error as error:
        print(error.kind, error.file, places.shape, triangles.shape, rays, ids, also)
    return vertices.shape[0] + fields.ptr
