# SPDX-License-Identifier: Apache-2.0
"""Long calls: other threads continue, Ctrl-C stops them, progress is reported."""
import contextlib
import io
import os
import signal
import sys
import threading
import time
import unittest
from unittest import mock

import numpy as np

import raylift as rl
from common import DATA, DEVICE, Test, detector, raises, uploaded


class Counting(threading.Thread):
    """Counts while the GIL is free, and for how long it was held at most."""

    def __init__(self):
        super().__init__(daemon=True)
        self.longest, self.stopped = 0.0, False

    def run(self):
        last = time.perf_counter()
        while not self.stopped:
            time.sleep(0.001)
            now = time.perf_counter()
            self.longest, last = max(self.longest, now - last), now

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stopped = True
        self.join()


class LongCalls(Test):
    def test_leave_the_gil_to_others(self):
        big = rl.scene_of(np.random.default_rng(1).normal(size=(600_000, 3)), np.arange(600_000).reshape(-1, 3))
        rays = np.random.default_rng(2).normal(size=(200_000, 3))
        geometry = uploaded()
        calls = {"check": lambda: rl.check(big), "upload": lambda: rl.upload(big, DEVICE),
                 "trace": lambda: geometry.trace(np.zeros(3), rays).synchronize(),
                 "propagate": lambda: rl.propagate(geometry, "point:0,0,0", 40_000)}
        for name, call in calls.items():
            with Counting() as counting:
                begin = time.perf_counter()
                call()
                took = time.perf_counter() - begin
            if took > 0.1:  # long enough to tell
                self.assertLess(counting.longest, 0.7 * took, name)

    def test_tell_their_progress(self):
        reports = []
        rl.load(DATA / "detector.dae", progress=lambda *step: reports.append(step))
        self.assertGreater(len({stage for stage, _, _ in reports}), 2)
        self.assertTrue(all(isinstance(done, int) and (total == 0 or done <= total) for _, done, total in reports))
        reports.clear()
        rl.propagate(uploaded(), "point:0,0,0", 3000, batch=1000, progress=lambda *step: reports.append(step))
        self.assertEqual(reports[-1], ("photons", 3000, 3000))

    def test_end_where_the_listener_says_so(self):
        for call in (lambda p: rl.load(DATA / "detector.dae", progress=p), lambda p: rl.check(detector(), progress=p),
                     lambda p: rl.upload(detector(), DEVICE, progress=p),
                     lambda p: rl.propagate(uploaded(), "point:0,0,0", 3000, progress=p)):
            with raises("cancelled"):
                call(lambda *_: False)

            def listener(*_):
                raise LookupError("from the listener")

            with self.assertRaisesRegex(LookupError, "from the listener"):
                call(listener)

    def test_keep_their_scene_as_it_is(self):
        """A scene that a call reads is not changed by its listener, nor by another thread."""
        vertices, triangles = np.random.default_rng(3).normal(size=(30_000, 3)), np.arange(30_000).reshape(-1, 3)
        for call in (lambda scene, p: rl.upload(scene, DEVICE, progress=p), lambda scene, p: rl.check(scene, progress=p),
                     lambda scene, p: rl.find_overlaps(scene, progress=p)):
            scene = rl.scene_of(vertices, triangles)
            refused = []

            def listener(*_):
                for change in (lambda: scene.add_mesh(vertices, triangles), lambda: scene.add_material("more"),
                               lambda: scene.add_solid(0)):
                    try:
                        change()
                    except rl.Error as error:
                        refused.append(error)
                self.assertEqual(len(scene.meshes), 1)

            call(scene, listener)
            self.assertGreater(len(refused), 2)
            self.assertEqual({error.kind for error in refused}, {"usage"})
            self.assertEqual(len(scene), 1)
            # Afterwards it may change, also after a call that failed.
            with raises("cancelled"):
                call(scene, lambda *_: False)
            scene.add_solid(scene.add_mesh(vertices, triangles))
            self.assertEqual(len(scene), 2)

    def test_end_by_ctrl_c(self):
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        begin = time.perf_counter()
        with self.assertRaises(KeyboardInterrupt):
            rl.propagate(uploaded(), "point:0,0,0", 1_000_000_000, hits=False, batch=2000)
        self.assertLess(time.perf_counter() - begin, 30)

    def test_draw_a_bar_where_there_is_tqdm(self):
        class Bar:
            bars = []

            def __init__(self, total, desc, **_):
                self.n, self.total, self.desc, self.closed = 0, total, desc, False
                self.bars.append(self)

            def update(self, more):
                self.n += more

            def close(self):
                self.closed = True

        module = mock.Mock(tqdm=Bar)
        with mock.patch.dict(sys.modules, {"tqdm": mock.Mock(auto=module), "tqdm.auto": module}):
            rl.propagate(uploaded(), "point:0,0,0", 2000, batch=1000, progress=True)
        self.assertEqual([(bar.desc, bar.n, bar.total, bar.closed) for bar in Bar.bars], [("photons", 2000, 2000, True)])
        with mock.patch.dict(sys.modules, {"tqdm.auto": None}):
            rl.propagate(uploaded(), "point:0,0,0", 2000, progress=True)
        with contextlib.redirect_stderr(io.StringIO()):
            rl.load(DATA / "cube.dae", progress=True)


if __name__ == "__main__":
    unittest.main()
