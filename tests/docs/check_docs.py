# SPDX-License-Identifier: Apache-2.0
"""Checks that the documentation names nothing that is not there, and that its facts are those of the code.

check_docs.py SOURCE_DIR: every relative link of every Markdown file leads to a file, and to a heading where it says so;
docs/README.md lists every page of docs/; every item of docs/security.md and each line of the table in docs/physics.md,
"Proved", names its tests; CITATION.cff and python/pyproject.toml have the version of CMakeLists.txt; and every name in code in the
right column of docs/coming_from_chroma.md is in a public header, a program or a file. The README has at most 200 lines,
performance.md 250; the README's C++ is examples/upload.cpp; docs/exit_codes.md has the exit codes of
error.cpp, docs/cache_format.md the versions of the code; linking.md and architecture.svg name all libraries; the files
that architecture.md names are there, and the files and functions that pages name in code; the plot of rays is that of its
table, and the README's figures are those of performance.md. Messages of the library name members of its options: the
programs have an option for each, and Python an argument.
"""
import pathlib
import re
import subprocess
import sys

source = pathlib.Path(sys.argv[1])
faults = []


def anchors(path):
    headings = re.findall(r"^#+ +(.*)$", path.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


pages = [page for folder in ("", "docs", "data", "bench", "examples") for page in (source / folder).glob("*.md")]
assert len(pages) > 8, pages
for page in pages:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists():
            faults.append(f"{page.name}: no file {link}")
        elif anchor and anchor not in anchors(target):
            faults.append(f"{page.name}: no heading {link}")

# Files and functions that pages name in code.
suffixes = {".h", ".cpp", ".cu", ".py", ".sh", ".json", ".svg", ".txt", ".cmake"}
tree = [path for folder in sorted(source.iterdir()) if folder.is_dir() and folder.name not in ("build", ".git")
        for path in folder.rglob("*") if path.suffix in suffixes]
names = {"/" + str(path.relative_to(source)) for path in tree}
written = "".join(path.read_text(errors="replace") for path in tree if path.suffix in {".h", ".cpp", ".cu", ".py", ".cmake"})
functions = set(re.findall(r"\b(\w+)\(", written)) | set(re.findall(r"(?:function|macro)\((\w+)", written))
for page in pages:
    if page.name in ("CHANGELOG.md", "coming_from_chroma.md", "modules.md", "releasing.md"):
        continue  # of other times and projects
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    for file in re.findall(r"`([\w/]+\.(?:h|cpp|cu))`", text):
        if not any(name.endswith("/" + file) for name in names):
            faults.append(f"{page.name}: no file {file}")
    for function in re.findall(r"`(?:\w+(?:::|\.))*(\w+)\(\)`", text):
        if function not in functions:
            faults.append(f"{page.name}: no function {function}()")

# Messages, as users of the programs and of Python read them.
options = set()
for folder in ("geometry", "gpu", "photon"):
    for path in (source / folder / "src").rglob("*.cpp"):
        for text in re.findall(r'"[^"\n]*"', path.read_text()):
            options |= set(re.findall(r"\b(\w+(?:Options|Limits))::(\w+(?:\.\w+)*)", text))
assert len(options) > 15, options
words = (source / "cli" / "option_words.cpp").read_text()
stubs = (source / "python" / "raylift" / "_raylift.pyi").read_text()
limits = (source / "python" / "src" / "scene.cpp").read_text()
library_only = {"arrays", "bvh", "chunk_bytes", "chunks", "prebuilt_bvh"}  # which no program and no cache can meet
for of, member in sorted(options):
    if f'"{of}::{member}"' not in words and not (of == "UploadOptions" and member in library_only):
        faults.append(f"cli/option_words.cpp has no option for {of}::{member}, which a message names")
    argument = f'"{member}"' in limits if of == "LoadLimits" else re.search(rf"\b{member.rpartition('.')[2]}: ", stubs)
    if not argument and member not in library_only:
        faults.append(f"Python has no argument for {of}::{member}, which a message names")

index = (source / "docs" / "README.md").read_text()
faults += [f"docs/README.md does not list {page.name}" for page in sorted((source / "docs").glob("*.md"))
           if page.name != "README.md" and f"]({page.name})" not in index]

tests = {f"{suite}.{name}" for path in (source / "tests").rglob("*.cpp")
         for suite, name in re.findall(r"^TEST(?:_[FP])?\((\w+), (\w+)\)", path.read_text(), re.M)}
items = re.split(r"\n(?=- )|\n\n", (source / "docs" / "security.md").read_text())
for item in (item for item in items if item.startswith("- ")):
    named, suite = re.findall(r"`((?:\w+\.)?[A-Z]\w+)`(?=[^()]*\))", item), ""
    for name in named:
        suite, _, name = name.rpartition(".") if "." in name else (suite, "", name)
        if f"{suite}.{name}" not in tests:
            faults.append(f"security.md: no test {suite}.{name}")
    if not named:
        faults.append(f"security.md: no test is named: {item}")

proved = re.search(r"^## Proved$(.*?)(?=^##)", (source / "docs" / "physics.md").read_text(), re.M | re.S)[1]
lines = [line.strip("|").split(" | ") for line in proved.splitlines() if line.startswith("| ")][1:]
assert len(lines) > 20, lines
for columns in lines:
    named = re.findall(r"`(\w+\.\w+)`", columns[1])
    faults += [f"physics.md: no test {name}" for name in named if name not in tests]
    if not named:
        faults.append(f"physics.md: no test is named: {columns[0]}")

version = re.search(r"project\(raylift VERSION ([\d.]+)", (source / "CMakeLists.txt").read_text())[1]
if f"\nversion: {version}\n" not in (source / "CITATION.cff").read_text():
    faults.append(f"CITATION.cff: not of version {version}")
if f'\nversion = "{version}"\n' not in (source / "python" / "pyproject.toml").read_text():
    faults.append(f"python/pyproject.toml: not of version {version}")

for page, most in (("README.md", 200), ("docs/performance.md", 250)):
    if (lines := len((source / page).read_text().splitlines())) > most:
        faults.append(f"{page}: {lines} lines, {most} at most")
example = (source / "examples" / "upload.cpp").read_text().split("\n", 2)[2]
if f"```cpp\n{example}```" not in (source / "README.md").read_text():
    faults.append("README.md: the C++ is not that of examples/upload.cpp")

# The figures of the README and of performance.md's summary are those of its tables.
summary = (source / "docs" / "performance.md").read_text()
summary, tables = summary[:summary.index("\n## Rays")], summary[summary.index("\n## Rays"):]
rays = [float(cell) for cell in re.search(r"incoherent: detector 20.6M \| (\d+) \| (\d+) \| +\| (\d+)", tables).groups()]
chroma = re.search(r"\| 20,000 sensors: flat; two levels \| (\d+); .*?Chroma there: .*?\| (\d+); (\d+) \|", tables, re.S).groups()
readme = " ".join((source / "README.md").read_text().split())
sentence = "{:.1f} billion incoherent rays a second through 20.6 million triangles; cuBQL {:.1f}, OptiX 9.0 {:.1f}."
for text, where in ((sentence.format(*(rate / 1000 for rate in rays)), readme),
                    ("{} million photons a second".format(chroma[0]), readme),
                    ("Chroma reaches {} as shipped and {} with".format(chroma[2], chroma[1]), readme),
                    ("| {:.0f} Mrays/s | cuBQL {:.0f}, OptiX 9.0 {:.0f} |".format(*rays), summary),
                    ("| {} M/s | Chroma {} |".format(*chroma), summary)):
    if text not in where:
        faults.append(f"README.md or the summary of performance.md: not '{text}'")

# Facts that stand in the code.
code = "".join(path.read_text() for path in sorted((source / "geometry" / "src").glob("error*.cpp")))
codes = {int(number): kind for kind, number in re.findall(r'\{ErrorKind::\w+, "(\w+)", (\d+)[,}]', code)}
page = (source / "docs" / "exit_codes.md").read_text()
listed = {int(number): kind for number, kind in re.findall(r"^\| (\d+) \| `(\w+)` \|", page, re.M)}
assert len(codes) > 10, codes
if listed != codes:
    faults.append(f"exit_codes.md has the exit codes {listed}, and error.cpp {codes}")

code = (source / "gpu" / "src" / "cache" / "cache_format.h").read_text()
page = (source / "docs" / "cache_format.md").read_text()
for name in ("kCacheVersion", "kCacheContents"):
    number = re.search(rf"\b{name} = (\d+);", code)[1]
    if f": {number} (`{name}`)" not in page:
        faults.append(f"cache_format.md: {name} is {number}")

libraries = [name for path in sorted(source.glob("*/CMakeLists.txt"))
             for name in re.findall(r"^ *raylift_install_library\((\w+)", path.read_text(), re.M)]
assert "photon" in libraries, libraries
for page in ("docs/linking.md", "docs/architecture.md", "docs/architecture.svg"):
    text = (source / page).read_text()
    faults += [f"{page} does not name the library {name}" for name in libraries
               if f"raylift::{name}" not in text and f"`{name}`" not in text]

# architecture.md: the files in "Where things are".
page = (source / "docs" / "architecture.md").read_text()
arrows = re.findall(r"^    \"(\w+)\": \[.*\],$", (source / "scripts" / "check-includes").read_text(), re.M)
assert "gpu" in arrows, arrows
faults += [f"architecture.md does not say what {folder}/ has" for folder in arrows if f"| `{folder}/` |" not in page]
places = re.search(r"^## Where things are$(.*?)(?=^##)", page, re.M | re.S)[1]
named = re.findall(r"`((?:\w+/)+[\w.]+)`(?:, `(\w+)`)?", places)
assert len(named) > 9, named
for path, name in named:
    if not (source / path).exists():
        faults.append(f"architecture.md: no file {path}")
    elif name and not re.search(rf"\b{name}\b", (source / path).read_text()):
        faults.append(f"architecture.md: no {name} in {path}")

faults += subprocess.run([sys.executable, source / "bench" / "plot_rays.py", "--check"], capture_output=True,
                         text=True).stderr.splitlines()

known = "".join(path.read_text() for folder in ("geometry/include", "gpu/include", "module/include", "interop/include", "cli", "batch", "viewer")
                for path in sorted((source / folder).rglob("*")) if path.suffix in (".h", ".cpp"))
headers = [path for folder in ("geometry", "gpu", "module", "interop") for path in (source / folder / "include" / "raylift").rglob("*.h")]
count = 0
for line in (source / "docs" / "coming_from_chroma.md").read_text().splitlines():
    columns = line.strip("|").split(" | ")
    if not line.startswith("|") or len(columns) < 2:
        continue
    for code in re.findall(r"`([^`]+)`", columns[-1]):
        if code.endswith(".cu"):
            continue
        if code.endswith(".h"):
            found = any(str(header).endswith("/" + code) for header in headers)
        elif code.startswith("raylift "):
            found = f'add_command(program,"{code.split()[1]}"' in re.sub(r"\s+", "", known)
        elif code.startswith("--"):
            found = re.search(rf'"[^" ]*{code.split()[0]}\b', known) is not None
        else:
            names = re.findall(r"[A-Za-z_]\w+", re.sub(r"[(<\[].*", "", code))
            found = all(re.search(rf"\b{name}\b", known) for name in names)
        count += 1
        if not found:
            faults.append(f"coming_from_chroma.md: nothing is called {code}")
assert count > 60, count

print("\n".join(faults) or f"{len(pages)} pages, {count} names: all there")
sys.exit(bool(faults))
