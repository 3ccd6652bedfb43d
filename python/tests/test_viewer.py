# SPDX-License-Identifier: Apache-2.0
"""Scenes for the viewer: COLLADA that reads back as the same, and the viewer's process."""
import os
import pathlib
import shutil
import stat
import tempfile
import unittest
from unittest import mock

import numpy as np

import raylift as rl
from common import DATA, Test, cube, detector, raises, uploaded


class Collada(Test):
    def test_reads_back_as_the_same_scene(self):
        scene = detector()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "again.dae")
            rl.write_collada(scene, path)
            again = rl.load(path)
            self.assertEqual((len(again), again.solid_names), (906, scene.solid_names))
            self.assertEqual(again.up_axis, scene.up_axis)
            np.testing.assert_allclose(again.transforms, scene.transforms)
            for mine, others in sorted({*zip(again.solid_meshes.tolist(), scene.solid_meshes.tolist())}):
                a, b = again.meshes[mine], scene.meshes[others]
                np.testing.assert_allclose(a.vertices, b.vertices, rtol=1e-6)
                self.same(a.triangles, b.triangles)
            names = [again.materials[i] for i in again.inside]
            self.assertEqual(names, [scene.materials[i] for i in scene.inside])
            np.testing.assert_allclose(again.bounds, scene.bounds)

    def test_marks_photons(self):
        result = rl.propagate(uploaded(), "point:0,0,0", 2000, record=3)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "photons.dae")
            for photons in (result, result.hits, result.hits.position):
                rl.write_collada(detector(), path, photons, size=10)
                again = rl.load(path)
                self.assertEqual(again.solid_names[-1], "photons")
                marks = again.meshes[again.solid_meshes[-1]].vertices[:4 * len(result.hits)]
                np.testing.assert_allclose(marks.reshape(-1, 4, 3).mean(axis=1), result.hits.position, atol=1e-2)


class Viewer(Test):
    def program(self, folder, script):
        path = pathlib.Path(folder, "viewer")
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return os.fspath(path)

    def test_gets_the_scenes_file(self):
        with tempfile.TemporaryDirectory() as folder:
            program = self.program(folder, f'echo "$@" > {folder}/arguments; cp "$1" {folder}/scene.dae')
            rl.view(detector(), program=program, output=folder + "/image.png", options=["--clip", "x"])
            arguments = pathlib.Path(folder, "arguments").read_text().split()
            self.assertEqual(arguments, [detector().source, "--clip", "x", "--output", folder + "/image.png"])
            scene = rl.scene_of(*cube(5), name="box")
            process = rl.view(scene, [[1, 2, 3]], program=program)
            self.assertEqual(process.wait(), 0)
            self.assertEqual(rl.load(folder + "/scene.dae").solid_names, ["box", "photons"])
            written = pathlib.Path(process.args[1]).parent
            self.assertTrue(written.exists())
            del process
            self.assertFalse(written.exists())

    def test_gets_photons_as_their_arrays(self):
        result = rl.propagate(uploaded(), "point:0,0,0", 500, record=3)
        with tempfile.TemporaryDirectory() as folder:
            program = self.program(folder, f'echo "$@" > {folder}/arguments; cp "$3"/*.npy {folder}')
            process = rl.view(detector(), result, program=program)
            self.assertEqual(process.wait(), 0)
            self.assertEqual(pathlib.Path(folder, "arguments").read_text().split()[:2], [detector().source, "--photons"])
            self.same(np.load(folder + "/hits.npy"), result.hits.opticks)
            record = np.load(folder + "/record.npy")
            self.assertEqual(record.shape, (3, 32, 4, 4))
            self.same(record[:, :, 0, :3], np.ascontiguousarray(result.record["position"]))
            program = self.program(folder, f'cp "$3"/hits.npy {folder}/alone.npy')
            self.assertEqual(rl.view(detector(), result.hits[:2], program=program).wait(), 0)
            self.same(np.load(folder + "/alone.npy"), result.hits.opticks[:2])

    def test_failures_are_errors(self):
        with tempfile.TemporaryDirectory() as folder:
            with raises("io"):
                rl.view(detector(), program=self.program(folder, "exit 3"), output="x.png")
        with mock.patch.dict(os.environ, {"PATH": "", "RAYLIFT_VIEW": ""}), raises("system"):
            rl.view(detector())

    @unittest.skipUnless(os.environ.get("RAYLIFT_VIEW") or shutil.which("raylift-view"), "there is no raylift-view")
    def test_draws_an_image(self):
        with tempfile.TemporaryDirectory() as folder:
            rl.view(rl.load(DATA / "cube.dae"), [[3000, 0, 0]], output=folder + "/cube.png",
                    options=["--resolution", "160x120"])
            self.assertGreater(os.path.getsize(folder + "/cube.png"), 500)


if __name__ == "__main__":
    unittest.main()
