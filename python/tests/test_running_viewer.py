# SPDX-License-Identifier: Apache-2.0
"""A viewer that runs: its verbs as methods, against one made of Python, and against the program under Xvfb."""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import unittest
from unittest import mock

import numpy as np

import raylift as rl
from common import DATA, Test, cube, raises

_VERBS = [
    {"name": "look", "description": "move the camera",
     "params": [{"name": "eye", "description": "position", "required": False, "schema": {"type": "array"}},
                {"name": "fov", "description": "degrees", "required": False, "schema": {"type": "number"},
                 "x-aliases": ["angle"]}],
     "result": {"description": "the camera"}},
    {"name": "open", "description": "open a file",
     "params": [{"name": "file", "description": "path", "required": True, "schema": {"type": "string", "format": "path"}}],
     "result": {"description": ""}}]


class Fake:
    """Answers each request with what it got; "fail" with an error after a notification of the camera."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "view-7.sock")
        self.asked = []
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(self.path)
        self.server.listen()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        connection, _ = self.server.accept()
        with connection, connection.makefile("rw") as lines:
            for line in lines:
                request = json.loads(line)
                self.asked.append(request)
                answer = {"jsonrpc": "2.0", "id": request["id"], "result": request.get("params")}
                if request["method"] == "rpc.discover":
                    answer["result"] = {"methods": _VERBS}
                if request["method"] == "fail":
                    del answer["result"]
                    answer["error"] = {"code": -32000, "message": "no such thing [a.dae]; do it",
                                       "data": {"kind": "usage", "message": "no such thing [a.dae]; do it", "file": "a.dae",
                                                "element": "", "problem": "no such thing", "advice": "do it", "exit_code": 2}}
                lines.write(json.dumps({"jsonrpc": "2.0", "method": "camera", "params": {"fov": 1}}) + "\n")
                lines.write(json.dumps(answer) + "\n")
                lines.flush()
                if request["method"] == "quit":
                    return


class Methods(Test):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.fake = Fake(self.folder)
        self.addCleanup(self.fake.server.close)

    def test_are_made_of_the_verbs(self):
        viewer = rl.Viewer(self.fake.path)
        self.assertEqual(list(viewer.verbs), ["look", "open"])
        self.assertIn("look", dir(viewer))
        self.assertIn("fov: degrees.", viewer.look.__doc__)
        self.assertEqual(viewer.look(eye=np.array([1, 2, 3.5]), fov=np.float32(40)), {"eye": [1, 2, 3.5], "fov": 40})
        self.assertEqual(viewer.look((1, 2, 3)), {"eye": [1, 2, 3]})
        self.assertEqual(viewer.look(fov=None), {})
        self.assertEqual(viewer.look(angle=3), {"fov": 3})  # an older name
        here = os.path.abspath("a.dae")
        self.assertEqual(viewer.open("a.dae"), {"file": here})
        self.assertEqual(viewer.open(pathlib.Path("a.dae")), {"file": here})
        for wrong in (lambda: viewer.look(fob=1), lambda: viewer.open(), lambda: viewer.open("a", "b")):
            self.assertRaises(TypeError, wrong)
        with self.assertRaisesRegex(AttributeError, "no verb 'lok'"):
            viewer.lok
        for value in (float("nan"), object()):
            with raises("usage"):
                viewer.look(fov=value)

    def test_failures_are_errors_of_their_kind(self):
        viewer = rl.Viewer(self.fake.path)
        with self.assertRaises(rl.UsageError) as caught:
            viewer.call("fail")
        error = caught.exception
        self.assertEqual((error.file, error.problem, error.advice, error.exit_code), ("a.dae", "no such thing", "do it", 2))
        self.assertEqual(viewer.look(), {})

    def test_notifications_wait_for_those_who_ask(self):
        viewer = rl.Viewer(self.fake.path)
        viewer.call("subscribe")
        viewer.call("subscribe")
        self.assertEqual(list(viewer.notifications(timeout=0.05)), [("camera", {"fov": 1})] * 2)

    def test_the_end_is_an_error(self):
        viewer = rl.Viewer(self.fake.path)
        viewer.call("quit")
        with raises("io"):
            viewer.call("state")
        with raises("io"):
            rl.Viewer(self.folder + "/none.sock")

    def test_the_newest_is_found(self):
        with mock.patch.dict(os.environ, {"XDG_RUNTIME_DIR": self.folder}):
            with raises("io"):
                rl.Viewer()
            os.mkdir(self.folder + "/raylift", 0o700)
            os.rename(self.fake.path, self.folder + "/raylift/view-7.sock")
            old = socket.socket(socket.AF_UNIX)
            old.bind(self.folder + "/raylift/view-8.sock")  # newer, without a listener
            old.close()
            self.assertEqual(rl.Viewer().look(), {})
            with raises("io"):
                rl.Viewer(8)


@unittest.skipUnless((os.environ.get("RAYLIFT_VIEW") or shutil.which("raylift-view")) and shutil.which("Xvfb"),
                     "there is no raylift-view, or no Xvfb")
class Window(Test):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        server = subprocess.Popen(["Xvfb", "-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        display = ":" + server.stdout.readline().decode().strip()
        environment = {"DISPLAY": display, "WAYLAND_DISPLAY": "", "LIBGL_ALWAYS_SOFTWARE": "1",
                       "XDG_CONFIG_HOME": self.folder, "XDG_RUNTIME_DIR": self.folder}
        patch = mock.patch.dict(os.environ, environment)
        patch.start()
        self.addCleanup(patch.stop)

    def test_is_moved(self):
        image = os.path.join(self.folder, "image.png")
        with rl.view(rl.load(DATA / "cube.dae"), options=["--resolution", "320x240"]) as viewer:
            self.assertEqual(viewer.ready()["solids"], 1)
            self.assertEqual(viewer.look(eye=[0, -9000, 0], target=np.zeros(3))["target"], [0, 0, 0])
            self.assertEqual(viewer.select("cub*")["selection"]["path"], "/World/cube")
            with raises("usage"):
                viewer.hide("missing")
            self.assertEqual(viewer.screenshot(image), {"file": image, "width": 320, "height": 240})
            self.assertGreater(os.path.getsize(image), 500)
            # Another scene in the same window; another handle of it.
            rl.view(rl.scene_of(*cube(5), name="box"), viewer=viewer, output=image)
            self.assertEqual(rl.Viewer().select("box")["solids"], 1)
            with raises("usage"):
                rl.view(rl.load(DATA / "cube.dae"), viewer=viewer, options=["--clip", "x"])
            viewer.subscribe(to=["camera"])
            moved = rl.Viewer(viewer.process.pid).look(eye=[0, 0, 500], fov=30)
            # What the panels leave free may have moved it before.
            self.assertIn(("camera", moved), viewer.notifications(timeout=20))
        self.assertEqual(viewer.wait(), 0)


if __name__ == "__main__":
    unittest.main()
