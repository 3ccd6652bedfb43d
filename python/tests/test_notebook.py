# SPDX-License-Identifier: Apache-2.0
"""The notebook runs from its beginning to its end, and draws its figures."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest


EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"


class Notebook(unittest.TestCase):
    @unittest.skipUnless(all(map(importlib.util.find_spec, ("nbconvert", "ipykernel", "matplotlib"))),
                         "nbconvert, ipykernel or matplotlib is not installed")
    def test_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            kernel = pathlib.Path(folder, "kernels", "python3")
            kernel.mkdir(parents=True)  # this interpreter, whatever is installed
            (kernel / "kernel.json").write_text(json.dumps({
                "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                "display_name": "Python 3", "language": "python"}))
            environment = {**os.environ, "JUPYTER_PATH": folder,
                           "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
            result = subprocess.run([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output-dir",
                                     folder, "--output", "run.ipynb", EXAMPLES / "detector.ipynb"],
                                    capture_output=True, text=True, env=environment)
            self.assertEqual(result.returncode, 0, result.stderr[-3000:])
            cells = json.loads(pathlib.Path(folder, "run.ipynb").read_text())["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", [])]
        self.assertFalse([output for output in outputs if output["output_type"] == "error"])
        data = [output["data"] for output in outputs if "data" in output]
        self.assertEqual(sum("image/png" in entry for entry in data), 4)
        self.assertTrue(any("<table>" in "".join(entry.get("text/html", [])) for entry in data))


if __name__ == "__main__":
    unittest.main()
