# SPDX-License-Identifier: Apache-2.0
"""raylift.Client, with a server of its own."""
import os
import signal
import subprocess
import tempfile
import unittest

import numpy

import raylift as rl
from common import DATA, uploaded

PROGRAM = os.environ.get("RAYLIFT_PROGRAM", "raylift")


def has_service() -> bool:
    shown = subprocess.run([PROGRAM, "serve", "--digest", str(DATA / "detector.dae")], capture_output=True, text=True)
    return shown.returncode == 0


@unittest.skipUnless(has_service(), "raylift was built without ZeroMQ")
class ClientTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.address = f"ipc://{folder.name}/s"
        self.server = subprocess.Popen(
            [PROGRAM, "serve", str(DATA / "detector.dae"), "--device", "host", "--listen", self.address],
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.stop)
        assert self.server.stderr is not None
        self.assertIn("is served", self.server.stderr.readline())

    def stop(self) -> None:
        self.server.send_signal(signal.SIGTERM)
        self.assertEqual(self.server.wait(60), 0)
        assert self.server.stderr is not None
        self.server.stderr.close()

    def test_gives_the_hits_of_propagate(self) -> None:
        here = rl.propagate(uploaded(), "ball:0,0,0,500", photons=3000, seed=5)
        client = rl.Client(self.address)
        there = client.wait(client.submit(source="ball:0,0,0,500", count=3000, seed=5, event=17))
        self.assertEqual((there.event, there.photons), (17, 3000))
        self.assertGreater(there.hit_count, 20)
        self.assertEqual(there.hits.array.tobytes(), here.hits.array.tobytes())
        self.assertEqual(there.ends, here.ends)

    def test_takes_arrays(self) -> None:
        start = numpy.zeros((500, 4, 4), numpy.float32)
        start[:, 1, 2] = 1
        start[:, 2, 3] = 420
        start[:, 1, 0] = numpy.linspace(-1, 1, 500)
        client = rl.Client([self.address], shared_memory=False)
        first = client.wait(client.submit(photons=start, seed=1, finals=True, sequences=True), timeout=60)
        self.assertEqual(len(first.finals), 500)
        self.assertEqual(first.sequences.shape, (500, 2, 2))
        self.assertIsNone(first.record)
        recorded = client.wait(client.submit(photons=start, seed=1, record=True))
        here = rl.propagate(uploaded(), start, seed=1, record=500)
        self.assertEqual(recorded.record.shape, (500, 32))
        self.assertEqual(recorded.record.tobytes(), here.record.tobytes())
        compact = client.wait(client.submit(photons=start, seed=1, hits="compact"))
        numpy.testing.assert_array_equal(compact.hits["time"], first.hits.time)
        self.assertEqual(client.wait(client.submit(photons=start, seed=1, hits="none")).hit_count, first.hit_count)
        tickets = {client.submit(photons=start, event=event, seed=event) for event in range(5)}
        events = set()
        while (result := client.next()) is not None:
            self.assertIn(result.ticket, tickets)
            events.add(result.event)
        self.assertEqual(events, set(range(5)))

    def test_says_what_is_wrong(self) -> None:
        client = rl.Client(self.address)
        for wrong in ({}, {"source": "point:0,0,0", "photons": []}, {"photons": numpy.zeros((3, 4, 4))},
                      {"gensteps": numpy.zeros((3, 4, 4), numpy.float32)}, {"source": "point:0,0,0", "count": 1, "hits": "all"}):
            with self.assertRaises(rl.UsageError):
                client.submit(**wrong)
        with self.assertRaisesRegex(rl.Error, "did you mean 'point'"):
            client.wait(client.submit(source="pont:0,0,0", count=1))
        with self.assertRaisesRegex(rl.Error, "another geometry|geometry is"):
            other = rl.Client(self.address, digest="ab" * 32)
            other.wait(other.submit(source="point:0,0,0", count=1))
        with self.assertRaises(rl.UsageError):
            rl.Client(digest="xyz")
        with self.assertRaises(rl.UsageError):
            rl.Client("http://x")
        self.assertEqual(client.server["device"], "host")
        self.assertEqual(client.status["total"]["completed"], 0)
        self.assertEqual(client.pending, 0)


if __name__ == "__main__":
    unittest.main()
