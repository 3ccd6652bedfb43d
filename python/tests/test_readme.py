# SPDX-License-Identifier: Apache-2.0
"""The README's Python prints what stands below it."""
import contextlib
import io
import os
import pathlib
import re
import tempfile
import unittest

from common import DATA

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"


class Readme(unittest.TestCase):
    @unittest.skipUnless(README.is_file(), "README.md is not beside the tests")
    def test_prints_its_output(self):
        code, printed = re.search(r"```python\n(.*?)```\n\nprints\n\n```text\n(.*?)```", README.read_text(), re.S).groups()
        output, before = io.StringIO(), os.getcwd()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(output):
            os.symlink(DATA.resolve(), os.path.join(folder, "data"))
            os.chdir(folder)
            try:
                exec(compile(code, "README.md", "exec"), {})
            finally:
                os.chdir(before)
        self.assertEqual(output.getvalue(), printed)


if __name__ == "__main__":
    unittest.main()
