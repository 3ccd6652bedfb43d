# SPDX-License-Identifier: Apache-2.0
"""The notebooks run from their beginnings to their ends, and draw their figures."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest


EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"


@unittest.skipUnless(all(map(importlib.util.find_spec, ("nbconvert", "ipykernel", "matplotlib"))),
                     "nbconvert, ipykernel or matplotlib is not installed")
class Notebook(unittest.TestCase):
    def run_all(self, name):
        """What the cells show."""
        with tempfile.TemporaryDirectory() as folder:
            kernel = pathlib.Path(folder, "kernels", "python3")
            kernel.mkdir(parents=True)  # this interpreter, whatever is installed
            (kernel / "kernel.json").write_text(json.dumps({
                "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                "display_name": "Python 3", "language": "python"}))
            environment = {**os.environ, "JUPYTER_PATH": folder,
                           "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
            result = subprocess.run([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output-dir",
                                     folder, "--output", "run.ipynb", EXAMPLES / name],
                                    capture_output=True, text=True, env=environment)
            self.assertEqual(result.returncode, 0, result.stderr[-3000:])
            cells = json.loads(pathlib.Path(folder, "run.ipynb").read_text())["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", [])]
        self.assertFalse([output for output in outputs if output["output_type"] == "error"])
        return [output["data"] for output in outputs if "data" in output]

    def test_detector_runs(self):
        data = self.run_all("detector.ipynb")
        self.assertEqual(sum("image/png" in entry for entry in data), 4)
        self.assertTrue(any("<table>" in "".join(entry.get("text/html", [])) for entry in data))

    def test_gdml_runs(self):
        self.assertEqual(sum("image/png" in entry for entry in self.run_all("gdml.ipynb")), 1)


if __name__ == "__main__":
    unittest.main()
