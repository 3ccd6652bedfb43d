# SPDX-License-Identifier: Apache-2.0
"""Optics as arrays, in and out; photons that follow them."""
import json
import os
import subprocess
import tempfile
import unittest

import numpy as np

import raylift as rl
from common import DATA, DEVICE, Test, cube, detector, raises, uploaded


def lamp(absorption=1000.0):
    """A ball of water of 1 m in a box, whose walls detect everything."""
    scene = rl.Scene()
    for name in ("Wall", "Water"):
        scene.add_material(name)
    box = scene.add_mesh(*cube(2000), name="box")
    wall = scene.add_solid(box, np.diag([1.5, 1.5, 1.5, 1]), name="wall", material="Wall")
    scene.add_solid(box, name="tank", material="Water", mother=wall, volume="Tank")
    for material in scene.optics.materials.values():
        material["RINDEX"] = rl.Table.of_wavelength([200, 800], 1.3)
    scene.optics.materials["Water"]["ABSLENGTH"] = rl.Table.of_wavelength([200, 800], absorption)
    skin = scene.optics.add_surface("Photocathode", model="glisur")
    skin["REFLECTIVITY"] = rl.Table.of_wavelength([200, 800], 0)
    skin["EFFICIENCY"] = rl.Table.of_wavelength([200, 800], 1)
    scene.optics.add_skin(skin, {"volume": "Tank"})
    return scene


def rows_of(geometry, scene, material):
    """The rows of a material's table: index, group velocity, absorption and scattering length at its points."""
    entries = geometry.optical_buckets.numpy()[scene.materials.index(material)]
    return geometry.optical_rows.numpy()[entries[0]:entries[-1] + 2]


class Properties(Test):
    def test_come_out_as_arrays(self):
        optics = detector().optics
        self.assertEqual(len(optics.materials), 9)
        water = optics.materials["Water"]
        self.assertIn("ABSLENGTH", water)
        table = water.table("ABSLENGTH")
        self.assertEqual(table.at.shape, table.values.shape)
        self.assertTrue((np.diff(table.at) > 0).all())
        self.assertEqual(optics.surfaces["CathodeSurface"].name, "CathodeSurface")
        self.assertEqual(set(optics.materials), set(detector().materials))
        with self.assertRaises(KeyError):
            optics.materials["Wine"]
        sidecar = json.loads(detector().optics_json())
        self.assertIn("materials", sidecar)
        self.assertEqual(detector().channels.shape[1], 2)
        self.assertIsInstance(detector().unhonoured, list)

    def test_go_in_as_arrays(self):
        scene = lamp()
        water = scene.optics.materials["Water"]
        energies, lengths = np.linspace(1.5, 6, 20), np.linspace(100, 5000, 20)
        water["ABSLENGTH"] = rl.Table.of_energy(energies, lengths)
        water["SCINTILLATIONYIELD"] = 10_000.0
        self.same(water.table("ABSLENGTH").at, energies)
        self.same(water.table("ABSLENGTH").values, lengths)
        self.assertTrue(water.table("ABSLENGTH").over_energy)
        self.assertEqual(water["SCINTILLATIONYIELD"], 10_000)
        self.assertEqual(sorted(water), ["ABSLENGTH", "RINDEX", "SCINTILLATIONYIELD"])
        del water["SCINTILLATIONYIELD"]
        self.assertNotIn("SCINTILLATIONYIELD", water)
        with self.assertRaises(KeyError):
            del water["SCINTILLATIONYIELD"]
        geometry = rl.upload(scene, DEVICE, wavelengths=np.arange(250, 700, 10))
        self.same(geometry.wavelengths, np.arange(250, 700, 10))
        expected = np.interp(1239.8419843320026 / geometry.wavelengths, energies, lengths)
        np.testing.assert_allclose(rows_of(geometry, scene, "Water")["v"][:, 2], expected, rtol=1e-5)
        own = rows_of(rl.upload(scene, DEVICE), scene, "Water")
        self.same(own["over_wavelength"], np.zeros(len(own)))
        for energy, length in zip(energies, lengths):
            row = own[np.argmin(abs(own["wavelength"] - 1239.8419843320026 / energy))]
            self.assertAlmostEqual(row["v"][2] / length, 1, 6)
        # By a sidecar into the same scene, the same tables.
        with tempfile.TemporaryDirectory() as folder:
            path, sidecar = os.path.join(folder, "lamp.dae"), os.path.join(folder, "lamp.optics.json")
            rl.write_collada(scene, path)
            with open(sidecar, "w", encoding="utf-8") as file:
                file.write(scene.optics_json())
            again = rl.load(path, optics=sidecar)
        self.same(again.optics.materials["Water"].table("ABSLENGTH").values, lengths)

    def test_tables_are_values(self):
        given = np.array([1.0, 2.0])
        table = rl.Table.of_energy([2, 3], given)
        given[0] = 9
        self.same(table.values, [1, 2])
        self.assertEqual(table, rl.Table.of_energy([2, 3], [1, 2]))
        self.assertEqual(hash(table), hash(rl.Table.of_energy([2, 3], [1, 2])))
        self.assertNotEqual(table, rl.Table.of_wavelength([2, 3], [1, 2]))
        self.assertNotEqual(table, rl.Table.of_energy([2, 3], [1, 3]))
        for values in (table.at, table.values, detector().optics.materials["Water"].table("RINDEX").values):
            with self.assertRaises(ValueError):
                values[:] = 9

    def test_are_checked(self):
        scene = lamp()
        water = scene.optics.materials["Water"]
        water["ABSLENGTH"] = rl.Table.of_wavelength([200, 800], -1)
        with raises("malformed") as caught:
            rl.upload(scene, DEVICE)
        self.assertIn("ABSLENGTH", str(caught.error))
        with raises("usage"):
            water["ABSLENGTH"] = rl.Table(np.array([1.0, 2]), np.array([1.0]))
        for wrong in ({"model": "teapot"}, {"finish": "teapot"}, {"type": "teapot"}):
            with raises("usage"):
                scene.optics.add_surface("x", **wrong)
        with raises("usage"):
            scene.optics.add_skin("nothing", {"volume": "Tank"})
        with raises("usage"):
            scene.optics.add_skin("Photocathode", {"volumes": "Tank"})
        with raises("usage"):
            rl.upload(lamp(), DEVICE, wavelengths=[100, 200, 400])


class Photons(Test):
    def test_are_absorbed_by_beers_law(self):
        for length in (500.0, 5000.0):
            result = rl.propagate(rl.upload(lamp(length), DEVICE), "laser:0,0,0,0,0,1", 20_000, seed=3)
            survive = np.exp(-2000 / length)
            detected = result.ends.get("detected", 0) / 20_000
            self.assertLess(abs(detected - survive), 4 * np.sqrt(survive * (1 - survive) / 20_000) + 1e-9)
            self.assertEqual(sum(result.ends.values()), 20_000)
            self.assertEqual(len(result.hits), result.ends["detected"])
            np.testing.assert_allclose(result.hits.position[:, 2], 2000, rtol=1e-5)
            # At the group velocity, which is c / n where the index is constant.
            np.testing.assert_allclose(result.hits.time, 2000 * 1.3 / 299.792458, rtol=1e-4)

    def test_tables_on_the_device_may_be_changed(self):
        scene = lamp()
        geometry = rl.upload(scene, DEVICE)
        before = rl.propagate(geometry, "laser:0,0,0,0,0,1", 2000).ends
        if DEVICE != "host":
            self.skipTest("this test writes by NumPy")
        rows_of(geometry, scene, "Water")["v"][:, 2] = 1
        after = rl.propagate(geometry, "laser:0,0,0,0,0,1", 2000).ends
        self.assertGreater(before["detected"], 200)
        self.assertEqual(after, {"absorbed": 2000})

    def test_come_as_arrays_in_each_layout(self):
        result = rl.propagate(uploaded(), "point:0,0,0", 20_000, seed=7, finals=True, sequences=True, record=5,
                              times=(20, 0, 100))
        hits = result.hits
        self.assertGreater(len(hits), 300)
        self.assertEqual((result.finals.array.shape, result.sequences.shape), ((20_000,), (20_000, 2, 2)))
        self.assertEqual((result.record.shape, result.times.shape[1]), ((5, 32), 20))
        self.assertEqual(hits.opticks.shape, (len(hits), 4, 4))
        self.assertEqual(hits.opticks.ctypes.data, hits.array.ctypes.data)
        self.assertEqual(hits.position.__array_interface__["data"][0], hits.array.ctypes.data)
        self.same(hits.opticks[:, 0, 3], hits.time)
        self.same(hits.chroma()["pos"], hits.position)
        self.same(np.bincount(hits.channel, minlength=len(result.channels)), result.channels[:, 1])
        self.assertEqual(result.times.sum(), len(hits))
        self.same(result.finals.number, np.arange(20_000))
        self.same(result.finals[result.finals.flag == 64].array, hits.array)
        self.assertEqual(result.by_material.sum(), 20_000)
        self.same(result.record["number"][:, 0], np.arange(5))
        self.assertIn("20000 photons", repr(result))

    def test_depend_on_seed_and_number_alone(self):
        whole = rl.propagate(uploaded(), "ball:0,0,0,1m", 6000, seed=11)
        halves = [rl.propagate(uploaded(), "ball:0,0,0,1m", 3000, seed=11, first=first, batch=700)
                  for first in (0, 3000)]
        self.same(np.concatenate([half.hits.array for half in halves]), whole.hits.array)
        self.assertNotEqual(len(rl.propagate(uploaded(), "ball:0,0,0,1m", 6000, seed=12).hits.array), 0)

    @unittest.skipUnless("RAYLIFT_PROGRAM" in os.environ, "RAYLIFT_PROGRAM names no program raylift")
    def test_are_those_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([os.environ["RAYLIFT_PROGRAM"], "photons", DATA / "detector.dae", "--device", "host",
                            "--source", "point:0,0,0", "--photons", "5000", "--seed", "7", "--output", folder + "/run",
                            "--final"], check=True, capture_output=True)
            result = rl.propagate(uploaded(), "point:0,0,0", 5000, seed=7, finals=True)
            self.assertEqual(np.load(folder + "/run/hits.npy").tobytes(), result.hits.opticks.tobytes())
            self.assertEqual(np.load(folder + "/run/final.npy").tobytes(), result.finals.opticks.tobytes())
            self.same(np.load(folder + "/run/channels.npy"), result.channels)

    def test_start_from_arrays(self):
        geometry = uploaded()
        directions = np.random.default_rng(2).normal(size=(3000, 3))
        start = rl.start_photons([[0, 0, 100]], directions, 420.0, time=5)
        self.assertEqual((start.shape, start.dtype), ((3000, 4, 4), np.float32))
        result = rl.propagate(geometry, start, finals=True)
        self.assertEqual(result.photons, 3000)
        self.assertTrue((result.finals.time >= 5).all())
        with tempfile.TemporaryDirectory() as folder:
            np.save(folder + "/start.npy", start)
            of_file = rl.propagate(geometry, f"photons:{folder}/start.npy", finals=True)
        self.same(of_file.finals.array, result.finals.array)
        self.same(rl.propagate(geometry, start, 1000, first=500, finals=True).finals.array,
                  result.finals.array[500:1500])

    def test_come_from_gensteps(self):
        steps = np.zeros((2, 6, 4), np.float32)
        words = steps.view(np.uint32)
        words[:, 0, 0], words[:, 0, 3] = 6, 1000  # torch, photons
        steps[:, 2, :3] = [0, 0, 1]
        steps[:, 2, 3] = 1
        steps[:, 3, 3] = 420
        words[:, 5, 3] = 3  # of a point
        with tempfile.TemporaryDirectory() as folder:
            np.save(folder + "/steps.npy", steps)
            of_file = rl.propagate(uploaded(), f"gensteps:{folder}/steps.npy", finals=True)
        result = rl.propagate(uploaded(), steps, finals=True)
        self.assertEqual(result.photons, 2000)
        self.same(of_file.finals.array, result.finals.array)

    def test_say_what_is_wrong(self):
        geometry = uploaded()
        for source in ("teapot:1,2,3", np.zeros((3, 5, 4), np.float32), np.zeros((3, 4, 4)), 5):
            with raises("usage"):
                rl.propagate(geometry, source, 10)
        with raises("usage"):
            rl.propagate(geometry, "point:0,0,0")
        with raises("usage"):
            rl.propagate(geometry, rl.start_photons([[0, 0, 0]], [[0, 0, 1]], 400), 2)
        with self.assertRaisesRegex(ValueError, "the position is not finite.*photon 1"):
            rl.propagate(geometry, rl.start_photons([[0, 0, 0], [0, np.nan, 0]], [[0, 0, 1]], 400))
        with raises("usage"):
            rl.propagate(rl.upload(rl.scene_of(*cube()), DEVICE), "point:0,0,0", 10)


if __name__ == "__main__":
    unittest.main()
