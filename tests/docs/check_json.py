# SPDX-License-Identifier: Apache-2.0
"""Checks what raylift prints with --json, and a batch's report, against docs/json.schema.json; and sidecars of optics
against docs/optics.schema.json.

check_json.py RAYLIFT SOURCE_DIR: runs each command, on files that are fine and on one that is not. Each answer must be
valid, and must not be once a member is missing, added, or of another type: a schema that accepts anything proves
nothing. Exits with 77 where Python has no jsonschema.
"""
import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

raylift, source = sys.argv[1], pathlib.Path(sys.argv[2])
schema = json.load(open(source / "docs" / "json.schema.json"))
jsonschema.Draft202012Validator.check_schema(schema)
data = {name: str(source / "data" / f"{name}.dae") for name in ("cube", "detector", "open_box", "nested_transforms")}
faults = []
checked = set()


def validator(name):
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})


def objects(value):
    """Every object in a value."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(inner)


def check(name, value, what):
    checked.add(name)
    valid = validator(name)
    for error in valid.iter_errors(value):
        faults.append(f"{what}: {error.json_path}: {error.message[:300]}")
        return
    # The first element, or the document: without each member, and with one more.
    def outer(copied):
        return copied[0] if isinstance(copied, list) else copied
    for member in list(outer(value)) + [None]:
        broken = copy.deepcopy(value)
        if member is None:
            outer(broken)["unheard_of"] = 1
        else:
            outer(broken)[member] = {"no": "such thing"} if not isinstance(outer(value)[member], dict) else 7
        if valid.is_valid(broken):
            faults.append(f"{what}: the schema accepts any {member or 'further member'}")


def run(name, *arguments, codes=(0,)):
    command = [raylift, *arguments[:1], "--json", *arguments[1:]] if arguments[0] != "cache" else [raylift, *arguments, "--json"]
    ended = subprocess.run(command, capture_output=True, env=environment)
    if ended.returncode not in codes:
        faults.append(f"{command}: exit code {ended.returncode}: {ended.stderr.decode()}")
        return
    check(name, json.loads(ended.stdout), " ".join(map(str, command[1:])))


def run_server(folder):
    """A server that has a client, and files by it. Nothing where the build has no service."""
    if subprocess.run([raylift, "serve", "--digest", data["detector"]], capture_output=True, env=environment).returncode != 0:
        checked.add("serve")
        return
    os.chmod(folder, 0o700)
    address = f"ipc://{folder}/s"
    server = subprocess.Popen([raylift, "serve", data["detector"], "--device", "host", "--listen", address], stderr=subprocess.PIPE, env=environment)
    try:
        server.stderr.readline()
        run("photons", "photons", f"--server={address}", "--photons", "1k", "--output", folder + "/served", data["detector"])
        run("serve", "serve", f"--status={address}")
    finally:
        server.terminate()
        server.wait()


def check_sidecars(example, scene, folder):
    """The schema and raylift agree: of the example, of what is exported, and of each with one thing wrong."""
    valid = jsonschema.Draft202012Validator(json.load(open(source / "docs" / "optics.schema.json")))
    jsonschema.Draft202012Validator.check_schema(valid.schema)
    path = folder + "/example.json"

    def reads(value):
        open(path, "w").write(json.dumps(value))
        ended = subprocess.run([raylift, "optics", "export", "-q", "--optics", path, scene], capture_output=True, env=environment)
        return json.loads(ended.stdout) if ended.returncode == 0 else None

    exported = reads(example)
    for value in (example, exported, {"raylift_optics": 1, "discard": ["channels"]}, {"raylift_optics": 1, "materials": {"*": None}}):
        for error in valid.iter_errors(value):
            faults.append(f"sidecar: {error.json_path}: {error.message[:300]}")
    everything = ["materials", "surfaces", "channels"]
    if exported is None or reads({**exported, "discard": everything}) != exported:
        faults.append(f"sidecar: what was exported reads back as something else: {exported}")
    for changed in range(sum(1 for _ in objects(example))):
        broken = copy.deepcopy(example)
        target = list(objects(broken))[changed]
        if set(target) & {"Water", "Foil", "8 inch", "RINDEX", "REFLECTIVITY", "DETECT", "MYKEY"}:
            continue  # names and keys may be any
        target["unheard_of"] = 1
        if valid.is_valid(broken) or reads(broken) is not None:
            faults.append(f"sidecar: an unknown field is taken: {target}")


with tempfile.TemporaryDirectory() as folder:
    environment = {**os.environ, "HOME": folder, "RAYLIFT_CACHE_DIR": folder + "/cache"}
    nowhere = folder + "/nowhere.dae"
    host = ("--device", "host")
    run("info", "info", data["detector"])
    run("info", "info", "--tree", data["cube"], nowhere, codes=(3,))
    sidecar = json.loads(re.search(r"```json\n(.*?)```", (source / "docs" / "optics.md").read_text(), re.S)[1])
    with_optics = folder + "/with_optics.dae"
    open(with_optics, "wb").write(open(data["detector"], "rb").read())
    sidecar["materials"]["Acrylic"] = {"MYKEY": 1, "COATEDTHICKNESS": {"value": 3}}
    sidecar["surfaces"]["Filter"] = {"model": "dichroic", "dichroic": [{"degrees": 0, **{key: {"energy_eV": [1, 2], "values": [0, 0.5]} for key in ("reflect", "transmit")}}]}
    check_sidecars(sidecar, with_optics, folder)
    open(folder + "/with_optics.optics.json", "w").write(json.dumps(sidecar))
    run("info", "info", "--list-optics", with_optics, data["cube"])
    run("check", "check", data["cube"])
    run("check", "check", data["open_box"], data["nested_transforms"], nowhere, codes=(3,))
    run("check", "check", "--no-overlaps", data["cube"])
    run("upload", "upload", *host, "--timings", "--verify", data["detector"])
    run("upload", "upload", *host, "--cache", "--bvh", data["cube"], nowhere, codes=(3,))
    run("upload", "upload", "--to", "host,host", data["cube"])
    run("trace", "trace", *host, "--rays", "1k", "--timings", data["detector"], data["cube"])
    run("trace", "trace", *host, "--width", "8", "--height", "8", "--image", folder + "/image.png", data["cube"])
    run("trace", "trace", *host, "--rays", "9", "--pattern", "surface", "--side", "outside", data["cube"])
    run("photons", "photons", *host, "--photons", "1k", "--seq", "--output", folder + "/photons", "--times", "9,0,9", "--timings", data["detector"])
    run("failed_file", "photons", *host, "--photons", "1k", "--output", folder + "/failed", nowhere, codes=(3,))
    run_server(folder)
    run("compare", "compare", folder + "/photons", folder + "/photons")
    check("photons", json.load(open(folder + "/photons/summary.json")), "summary.json")
    run("cache", "cache", data["detector"])
    run("cache_verify", "cache", "verify")
    run("cache_list", "cache", "list")
    run("cache_clear", "cache", "clear")
    run("devices", "devices")
    report = folder + "/report.jsonl"
    odd = os.fsencode(folder) + b"/odd\xe9.dae"
    open(odd, "wb").write(open(data["cube"], "rb").read())
    run("batch", "batch", "--keep-going", "--do", "info,check,cache,upload,trace", "--cache", *host, "--rays", "100",
        "--report", report, *data.values(), with_optics, odd, nowhere, codes=(3,))
    run("batch", "batch", "--shard", "0/2", "--report", folder + "/shard.jsonl", data["cube"])
    for path in (report, folder + "/shard.jsonl"):
        for number, line in enumerate(open(path)):
            check("report_row" if number else "report_head", json.loads(line), f"line {number + 1} of {path}")

for name in [reference["$ref"].rsplit("/", 1)[1] for reference in schema["anyOf"]]:
    if name not in checked:
        faults.append(f"nothing was checked against '{name}'")
print("\n".join(faults) or f"{len(checked)} kinds of documents are as the schema has them")
sys.exit(bool(faults))
