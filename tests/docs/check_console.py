# SPDX-License-Identifier: Apache-2.0
"""Checks that what the pages show of the programs is what these print.

check_console.py BIN SOURCE_DIR [--update]: runs the commands ("$ ...") of each ```console block of README.md and docs/, in
order, and compares their output with the lines that follow. A line "..." stands for any lines. Times, rates and free memory
are not compared, since they vary. --update writes the output into the page, where it has no "...". The table of docs/limits.md
is compared with `raylift info --help`, and that of docs/exit_codes.md with `raylift --help`.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

folder, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
update = "--update" in sys.argv
faults = []
commands = 0


def masked(line):
    """The line without what varies: figures, in lines of times, rates and free memory."""
    return re.sub(r"\d[\d.,]* ?\w*", "#", line) if re.search(r"/s\b|^free before|^placement ", line) else line.rstrip()


def matches(expected, printed):
    """Whether the lines are the same; "..." is any lines."""
    if not expected:
        return not printed
    if expected[0] == "...":
        return any(matches(expected[1:], printed[n:]) for n in range(len(printed) + 1))
    return bool(printed) and masked(expected[0]) == masked(printed[0]) and matches(expected[1:], printed[1:])


def run(command, where):
    words = shlex.split(command)
    ended = subprocess.run([folder / pathlib.Path(words[0]).name, *words[1:]], cwd=where, text=True, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, env={**os.environ, "HOME": where, "CUDA_VISIBLE_DEVICES": ""})
    return ended.stdout.rstrip("\n").split("\n")


def check_block(page, text):
    """The block's text, or as it has to be with --update."""
    global commands
    result = []
    with tempfile.TemporaryDirectory() as where:
        os.symlink(source / "data", pathlib.Path(where, "data"))
        for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
            command, *expected = part.rstrip("\n").split("\n")
            printed = run(command, where)
            commands += 1
            if update and "..." not in expected:
                expected = printed
            if not matches(expected, printed):
                faults.append(f"{page.name}: '{command}' prints something else:\n" + "\n".join(printed))
            result += [f"$ {command}", *expected]
    return "\n".join(result) + "\n"


for page in [source / "README.md", *sorted((source / "docs").glob("*.md"))]:
    text = page.read_text()
    changed = re.sub(r"(?<=```console\n)(.*?)(?=```)", lambda block: check_block(page, block[1]), text, flags=re.S)
    if changed != text:
        page.write_text(changed)
if commands < 5:
    faults.append(f"only {commands} commands are shown")


def number(text):
    """8 GiB, 1000, 5M, 5,000,000: a number; else the text."""
    found = re.fullmatch(r"([\d,]+) ?(k|M|G|GiB| s| times.*)?", text)
    return int(found[1].replace(",", "")) * {"k": 10**3, "M": 10**6, "G": 10**9, "GiB": 2**30}.get(found[2], 1) if found else text


help_text = "".join(line + "\n" for line in run("raylift info --help", "/tmp"))
options = dict(re.findall(r"^  (--[\w-]+) \w+=(\S+)", help_text[help_text.index("\nLimits:"):], re.M))
rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in (source / "docs" / "limits.md").read_text().splitlines()
        if line.startswith("|") and "`--" in line]
shown = {row[2].strip("` "): row[1] for row in rows}
if len(options) < 10 or shown.keys() != options.keys():
    faults.append(f"limits.md has the options {sorted(shown)}, and raylift --help has {sorted(options)}")
for option in shown.keys() & options.keys():
    default = number(options[option])
    if isinstance(default, int) and number(shown[option]) != default:
        faults.append(f"limits.md: {option} is {options[option]}, not {shown[option]}")

page = (source / "docs" / "exit_codes.md").read_text()
listed = {int(code): kind for code, kind in re.findall(r"^\| (\d+) \| `(\w+)` \|", page, re.M)}
footer = re.search(r"Exit codes:\n(.*?)\nOf several", "\n".join(run("raylift --help", "/tmp")), re.S)[1]
helped = {int(code): kind for code, kind in re.findall(r"^ *(\d+) {2,}(\w+):", footer, re.M) if int(code) > 1}
if len(listed) < 10 or helped != listed:
    faults.append(f"raylift --help has the exit codes {helped}, and exit_codes.md {listed}")

print("\n".join(faults) or f"{commands} commands print what the pages show; {len(shown)} limits")
sys.exit(bool(faults))
