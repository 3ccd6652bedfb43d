# SPDX-License-Identifier: Apache-2.0
"""The type stubs: complete, consistent, and what the module has."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import raylift as rl

PACKAGE = pathlib.Path(rl.__file__).parent
HERE = pathlib.Path(__file__).parent


def run(*command, **kwargs):
    environment = {**os.environ, "MYPYPATH": os.fspath(PACKAGE.parent), "PYTHONPATH": os.fspath(PACKAGE.parent)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, **kwargs)


@unittest.skipUnless(shutil.which("mypy"), "there is no mypy")
class Types(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def mypy(self, *arguments):
        return run("mypy", "--strict", "--cache-dir", self.folder.name, *arguments, cwd=self.folder.name)

    def test_package_and_a_users_program_are_well_typed(self):
        for of in (("-p", "raylift"), (os.fspath(HERE / "typed_use.py"),)):
            result = self.mypy(*of)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_mistakes_are_found(self):
        text = (HERE / "typed_use.py").read_text()
        mistakes = [('unit_mm=1.0', 'unit_mm="1"'), ("budget=1e9", "budgets=1e9"), ("error.kind", "error.sort"),
                    ("hits.t.numpy()", "hits.time.numpy()"), ('"point:0,0,0", 1000', '"point:0,0,0", "1k"')]
        paths = []
        for number, (right, wrong) in enumerate(mistakes):
            self.assertIn(right, text)
            paths.append(os.path.join(self.folder.name, f"wrong_use_{number}.py"))
            pathlib.Path(paths[-1]).write_text(text.replace(right, wrong))
        result = self.mypy(*paths)
        for number in range(len(mistakes)):
            self.assertIn(f"wrong_use_{number}.py", result.stdout)

    @unittest.skipUnless(shutil.which("stubtest"), "there is no stubtest")
    def test_stub_is_that_of_the_module(self):
        allowed = pathlib.Path(self.folder.name, "allowed")
        # What pybind11's classes have of their own, and Geometry's arrays.
        allowed.write_text("raylift\\._raylift\\..*\\.__(init|new|hash|eq|getattr|array)__\n"
                           "raylift\\._raylift\\._?[A-Z][a-z]*\n")  # their metaclass
        result = run(sys.executable, shutil.which("stubtest"), "raylift._raylift", "--ignore-missing-stub",
                     "--allowlist", os.fspath(allowed), "--ignore-unused-allowlist", "--ignore-positional-only",
                     cwd=self.folder.name)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_stub_lacks_nothing(self):
        import ast

        from raylift import _raylift

        tree = ast.parse((PACKAGE / "_raylift.pyi").read_text())
        stub = {node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        names = set(stub) | {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
        public = {name for name in dir(_raylift) if not name.startswith("__")}
        self.assertEqual(public - names, set())
        for name, node in stub.items():
            if isinstance(node, ast.ClassDef):
                typed = {member.name for member in node.body if isinstance(member, ast.FunctionDef)}
                mine = {member for member in vars(getattr(_raylift, name)) if not member.startswith("__")}
                self.assertEqual(mine - typed - {"_pybind11_conduit_v1_"}, set(), name)
        self.assertLessEqual(set(rl.__all__), set(dir(rl)))


if __name__ == "__main__":
    unittest.main()
