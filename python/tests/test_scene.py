# SPDX-License-Identifier: Apache-2.0
"""Scenes from files and from arrays; errors with kind and place."""
import copy
import os
import pathlib
import pickle
import tempfile
import unittest

import numpy as np

import raylift as rl
from common import DATA, DEVICE, Test, cube, detector, raises, sphere


class Loading(Test):
    def test_reads_what_a_file_has(self):
        scene = detector()
        self.assertEqual(len(scene), 906)
        self.assertEqual((scene.format, scene.unit_mm, scene.up_axis), ("COLLADA 1.4.1", 1.0, "z"))
        self.assertEqual(len(scene.meshes), 9)
        self.assertEqual(sum(len(mesh.triangles) for mesh in scene.meshes), 11536)
        self.assertEqual(scene.transforms.shape, (906, 3, 4))
        self.assertEqual(len(scene.solid_names), len(scene.paths))
        self.assertTrue(scene.paths[5].endswith("/" + scene.solid_names[5]))
        self.same(scene.inside[scene.mothers[1:]], scene.outside[1:])
        self.assertEqual(scene.report["dropped_triangles"], 0)
        corners = np.concatenate([
            scene.meshes[mesh].vertices @ matrix[:, :3].T + matrix[:, 3]
            for mesh, matrix in zip(scene.solid_meshes, scene.transforms)])
        np.testing.assert_allclose(scene.bounds, [corners.min(0), corners.max(0)], rtol=1e-6)
        self.assertIn("dae", rl.supported_extensions())
        self.assertIn("906 solids", repr(scene))

    def test_takes_options(self):
        scene = rl.load(str(DATA / "cube.dae"), unit_mm=10, up_axis="x")
        plain = rl.load(DATA / "cube.dae", unit_mm=1)
        self.assertEqual((scene.unit_mm, scene.up_axis), (10, "x"))
        np.testing.assert_allclose(scene.bounds, 10 * plain.bounds)
        self.assertEqual(len(rl.load(DATA / "detector.dae", optics_beside=False, isolate=True)), 906)

    def test_reads_gdml(self):
        text = """<gdml><materials><material name="M" Z="7"><D value="1"/><atom value="14"/></material></materials><solids>
<box name="w" x="100" y="100" z="100"/><orb name="o" r="10"/></solids><structure>
<volume name="ball"><materialref ref="M"/><solidref ref="o"/></volume>
<volume name="world"><materialref ref="M"/><solidref ref="w"/><physvol name="p" copynumber="7"><volumeref ref="ball"/></physvol>
</volume></structure><setup name="Default" version="1.0"><world ref="world"/></setup></gdml>"""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.gdml"
            path.write_text(text)
            scene, coarse = rl.load(path), rl.load(path, steps=8, fit="inscribed", setup="Default")
            self.assertEqual((scene.format, scene.unit_mm, scene.up_axis, len(scene)), ("GDML", 1.0, "z", 2))
            self.assertEqual(scene.solid_names[1], "p")
            self.assertLess(coarse.triangle_count, scene.triangle_count)
            with raises("usage"):
                rl.load(path, fit="best")
        self.assertEqual(rl.load(DATA / "cube.dae", reader="assimp", isolate=True).format, "Collada Importer")
        with raises("usage") as refused:
            rl.load(DATA / "cube.dae", reader="assimp", external=True)
        self.assertIn("leave out reader= or external=", refused.error.advice)
        with raises("usage"):
            rl.load(DATA / "cube.dae", reader="collada")
        with raises("usage"):
            rl.load(DATA / "cube.dae", up_axis="w")
        with raises("usage"):
            rl.load(DATA / "cube.dae", limits={"teapots": 1})
        with raises("limit") as caught:
            rl.load(DATA / "detector.dae", limits={"triangles": 100})
        self.assertIn('limits={"triangles": ...}', caught.error.advice)
        self.assertIn(caught.error.advice, str(caught.error))

    def test_errors_have_kind_and_place(self):
        with raises("io") as caught:
            rl.load("nowhere.dae")
        self.assertEqual(caught.error.file, "nowhere.dae")
        self.assertIn("No such file", caught.error.problem)
        self.assertEqual(caught.error.exit_code, 3)
        again = pickle.loads(pickle.dumps(caught.error))
        self.assertEqual((again.kind, again.file, str(again)), ("io", "nowhere.dae", str(caught.error)))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "broken.dae")
            path.write_text("<COLLADA><asset/>")
            with raises("malformed") as caught:
                rl.load(path)
            self.assertEqual(caught.error.file, os.fspath(path))
        with self.assertRaises(ValueError):
            rl.Device("teapot")
        with self.assertRaises(MemoryError):
            rl.upload(detector(), rl.Device("host", host_budget=1000), policy="device", reserve=0)

    def test_devices(self):
        host = rl.Device("host", host_budget=1 << 20)
        self.assertEqual(host.memory_info, (1 << 20, 1 << 20))
        self.assertTrue(host.is_host)
        self.assertEqual((host.id, host, {host: 1}[host]), ("host", rl.Device.all()[-1], 1))
        self.assertEqual(host.properties["page_bytes"], 2 << 20)
        host.trim()


class FromArrays(Test):
    def test_one_mesh(self):
        vertices, triangles = cube(10)
        for kind in (np.float32, np.float64, np.int16):
            scene = rl.scene_of(vertices.astype(kind), triangles.astype(np.uint8), name="box", material="Water")
            self.same(scene.meshes[0].vertices, vertices)
            self.same(scene.meshes[0].triangles, triangles)
            self.same(scene.bounds, [[-10] * 3, [10] * 3])
            self.assertEqual((scene.solid_names, scene.materials), (["box"], ["Water"]))
        self.assertTrue(rl.check(scene)["watertight"])
        self.assertAlmostEqual(rl.check(scene)["meshes"][0]["volume"], 8000, places=6)

    def test_solids_within_solids(self):
        scene = rl.Scene()
        for name in ("Rock", "Water", "Glass"):
            scene.add_material(name, color=(0.1, 0.2, 0.3, 1))
        box, ball = scene.add_mesh(*cube(1), name="box"), scene.add_mesh(*sphere(10), name="ball")
        world = scene.add_solid(box, np.diag([100, 100, 100, 1]), name="world", material="Rock")
        tank = scene.add_solid(box, np.diag([50, 50, 50, 1.0]), name="tank", material=1, mother=world, volume="Tank")
        place = np.eye(4)[:3]
        place[:, 3] = 5
        bulb = scene.add_solid(ball, place, name="bulb", material="Glass", mother=tank, copy_number=17)
        self.same(scene.mothers, [-1, world, tank])
        self.same(scene.outside, [-1, 0, 1])
        self.same(scene.inside, [0, 1, 2])
        self.assertEqual(scene.paths[bulb], "/world/tank/bulb")
        self.assertEqual(scene.volume_names[tank], "Tank")
        self.same(scene.transforms[bulb], place)
        hits = rl.upload(scene, DEVICE).trace([5, 5, 5], [[1, 0.01, 0.02]])
        self.assertEqual((hits.solid.numpy()[0], hits.material_outside.numpy()[0]), (bulb, 1))
        report = rl.find_overlaps(scene)
        self.assertEqual((report["solids"], report["overlaps"]), (3, []))
        scene.add_solid(ball, mother=tank, name="free")
        place[:, 3] = 0.1
        scene.add_solid(ball, place, mother=tank, name="over it")
        overlaps = rl.find_overlaps(scene, tolerance=1e-3)["overlaps"]
        self.assertEqual([(o["kind"], o["first"], o["second"]) for o in overlaps], [("siblings_cross", 3, 4)])

    def test_parts_have_materials(self):
        scene = rl.Scene()
        scene.add_material("A")
        scene.add_material("B")
        mesh = scene.add_mesh(*cube(), parts=[0] * 4 + [1] * 8)
        self.assertEqual(scene.meshes[mesh].parts, [(0, 4), (4, 8)])
        scene.add_solid(mesh, material=["A", "B"])
        geometry = rl.upload(scene, DEVICE)
        hits = geometry.trace([0, 0, 0], [[1, 0.1, 0.2], [0.1, 0.2, 1]])
        self.same(hits.material_inside.numpy(), [0, 1])
        with raises("usage"):
            scene.add_solid(mesh, material=["A"])
        with raises("usage"):
            scene.add_mesh(*cube(), parts=[0] * 4 + [2] * 8)

    def test_far_from_the_origin(self):
        vertices, triangles = cube()
        scene, far = rl.Scene(), np.array([1e6 + 0.25, -3e7, 5])
        mesh, transform = scene.add_centered_mesh(vertices + far, triangles)
        scene.add_solid(mesh, transform)
        self.same(scene.meshes[mesh].vertices + transform[:, 3], vertices + far)
        self.same(scene.bounds, [vertices.min(axis=0) + far, vertices.max(axis=0) + far])
        mesh, transform = scene.add_centered_mesh(vertices, triangles, name="near")
        self.same(transform, np.eye(4)[:3])
        self.same(scene.meshes[mesh].vertices, vertices)
        with raises("malformed"):
            scene.add_centered_mesh(vertices * np.inf, triangles)

    def test_are_copied_and_pickled(self):
        scene = detector()
        for again in (copy.copy(scene), copy.deepcopy(scene), pickle.loads(pickle.dumps(scene))):
            self.assertEqual(again.paths, scene.paths)
            self.same(again.transforms, scene.transforms)
            self.same(again.bounds, scene.bounds)
            self.assertEqual(again.optics_json(), scene.optics_json())
            self.assertEqual(again.report, scene.report)
        before = len(scene)
        again.add_solid(0)
        self.assertEqual((len(again), len(scene)), (before + 1, before))
        light = [rl.propagate(rl.upload(one, DEVICE), "point:0,0,0", 2000).hits.array for one in (scene, copy.copy(scene))]
        self.same(*light)
        self.assertGreater(len(light[0]), 0)
        # A changed scene as it is now; one that is wrong is refused where it is packed.
        again.optics.materials[again.materials[0]]["RINDEX"] = rl.Table.of_wavelength([300, 400], [1.5, -1])
        with raises("malformed"):
            pickle.dumps(again)
        data = bytearray(scene.__getstate__())
        data[7] = 255
        with raises("unsupported"):
            rl.Scene.__new__(rl.Scene).__setstate__(bytes(data))

    def test_say_what_is_wrong(self):
        scene, (vertices, triangles) = rl.Scene(), cube()
        with raises("malformed") as caught:
            scene.add_mesh(vertices, triangles + 1, name="off")
        self.assertIn("off", caught.error.element)
        for wrong in (vertices * np.nan, np.full((8, 3), 1e300)):
            with raises("malformed"):
                scene.add_mesh(wrong, triangles)
        for wrong in (vertices[:, :2], vertices.astype(complex)):
            with raises("usage"):
                scene.add_mesh(wrong, triangles)
        mesh = scene.add_mesh(vertices, triangles)
        for transform in (np.eye(3), np.diag([1, 1, 1, 2.0])):
            with raises("usage"):
                scene.add_solid(mesh, transform)
        with raises("usage"):
            scene.add_solid(mesh, material="Unobtainium")
        with self.assertRaises(IndexError):
            scene.add_solid(7)
        with self.assertRaises(IndexError):
            scene.add_solid(mesh, mother=0)

    def test_open_meshes_leak(self):
        vertices, triangles = cube()
        result = rl.check(rl.scene_of(vertices, triangles[1:]), examples=2)
        self.assertFalse(result["watertight"])
        self.assertEqual((result["counts"]["open_edge"], result["leaking_solids"]), (3, 1))
        self.assertEqual(len(result["meshes"][0]["examples"]), 2)


class Reports(Test):
    def test_are_dicts_and_tables(self):
        report = rl.upload(detector(), DEVICE, budget=1e9).report
        self.assertIsInstance(report, dict)
        self.assertEqual(report["budget_bytes"], 10**9)
        self.assertEqual(report["bytes"], sum(array["bytes"] for array in report["arrays"]))
        self.assertIn("vertices", repr(report))
        self.assertIn("vertices", report._repr_html_())
        self.assertIn("<table>", report._repr_html_())


if __name__ == "__main__":
    unittest.main()
