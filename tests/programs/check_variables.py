# SPDX-License-Identifier: Apache-2.0
# check_variables.py SOURCE BINARY...: prints the environment variables of raylift that a binary reads and that no page of
# the documentation names; exits with 1 if there are any.
import pathlib
import re
import sys

source, *binaries = map(pathlib.Path, sys.argv[1:])
NAME = re.compile(rb"RAYLIFT_[A-Z_]+")
pages = [source / "README.md", *(source / "docs").glob("*.md")]
known = {name for page in pages for name in NAME.findall(page.read_bytes())}
known.add(b"RAYLIFT_BATCH_WORKER")  # raylift sets it for the processes that it starts

code = 0
for binary in binaries:
    # The name of a variable is a string of its own; the sources of kernels that a binary contains are longer ones.
    strings = re.findall(rb"(?<=\0)RAYLIFT_[A-Z_]+(?=\0)", binary.read_bytes())
    unknown = sorted(set(strings) - known)
    if unknown:
        print(binary.name + ":", *(name.decode() for name in unknown))
        code = 1
sys.exit(code)
