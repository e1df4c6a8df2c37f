"""The arrows between crates and between modules, as the design allows them."""

import ast
import re
import sys

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ALLOWED = {
    "core": set(),
    # A reader of files that knows no model: a replay reads while it runs.
    "capture": {"core"},
    "queueing": {"core"},
    "endpoints": {"core"},
    "events": {"core"},
    "voice": {"core"},
    "measure": {"core", "voice"},
    "nodes": {"core", "queueing", "measure"},
    # measure for the metrics that requirements bound.
    "scenario": {"core", "capture", "queueing", "endpoints", "measure", "nodes", "voice"},
    # capture and endpoints for what sources never exceed, nodes for what holds packets.
    "bounds": {"core", "capture", "queueing", "endpoints", "nodes", "scenario"},
    "import": {"core", "capture", "queueing", "endpoints", "nodes", "scenario"},
    # endpoints for the rates and lengths of sources, measure and voice for requirements,
    # nodes for buffers, bounds for what they prove.
    "lint": {
        "bounds",
        "core",
        "queueing",
        "endpoints",
        "measure",
        "voice",
        "nodes",
        "scenario",
        "import",
    },
    # Back from policies to text; reads what it wrote with the importer.
    "export": {"core", "queueing", "nodes", "scenario", "import"},
    "sim": {
        "core",
        "capture",
        "events",
        "queueing",
        "endpoints",
        "nodes",
        "measure",
        "scenario",
        "voice",
    },
    # bounds for the column beside what was measured, verdicts of certainty, and the arrivals that
    # come near them, capture to replay these; queueing for the outlines of policies and the
    # evidence of drops, endpoints for the segments in recorded packets, events to run once more.
    "output": {
        "bounds",
        "capture",
        "core",
        "events",
        "queueing",
        "endpoints",
        "measure",
        "nodes",
        "scenario",
        "sim",
    },
    "live": {"core", "queueing", "measure", "scenario"},
    # What front ends ask: the arrow goes to everything, and nothing but front ends points here.
    # queueing, endpoints, nodes and voice for their registries: the lists that `spillgate list`
    # prints.
    "documents": {
        "bounds",
        "capture",
        "core",
        "queueing",
        "endpoints",
        "import",
        "export",
        "lint",
        "scenario",
        "sim",
        "measure",
        "output",
        "nodes",
        "voice",
    },
    "python": {
        "bounds",
        "capture",
        "core",
        "documents",
        "queueing",
        "import",
        "lint",
        "scenario",
        "sim",
        "measure",
        "output",
        "voice",
    },
    "wasm": {"core", "documents", "import", "lint", "output", "scenario", "sim"},
}

# A module may import those of lower rank, and its own package.
RANK = {
    "errors": 0,
    "_engine": 1,
    "points": 1,
    "search": 1,
    "mechanisms": 2,
    "ranking": 7.5,
    "ports": 8.8,
    "knobs": 8.9,
    "compare": 8.95,
    "statistics": 2,
    "selection": 2.5,
    "own": 1.25,
    "source": 1.5,
    "labels": 2,
    "visible": 0,
    "displayed": 0,
    "bounded": 0,
    "spreadsheet": 0,
    "whole": 0,
    "metrics": 3,
    "voice": 3,
    "rundir": 3,
    "scenario": 3,
    "where": 3.5,
    "objective": 3.5,
    "lint": 4,
    "lab": 5,
    "rows": 4,
    "bounds": 4.5,
    "admission": 5,
    "outages": 5,
    "estimates": 6,
    "documents": 6.5,
    "frames": 6.5,
    "witness": 6.5,
    "result": 7,
    "tables": 7.5,
    "proofs": 7.5,
    "nodes": 8,
    "described": 8,
    "pilot": 5,
    "run": 8,
    "study": 8.5,
    "suites": 8.75,
    "cluster": 8.5,
    "saved": 8.5,
    "dataset": 8.6,
    "explain": 8.75,
    "analysis": 9,
    "find": 8.75,
    "best": 8.75,
    "tuning": 8.75,
    "pcap": 9,
    "plot": 9,
    "report": 9,
    "worst_case": 9.5,
    "envelope": 0,
    "maximum": 1,
    "cross": 8.75,
    "stress": 9.6,
    "shown": 10,
    "stepped": 8.5,
    "gym": 9,
    "alone": 4,
    "cli": 11,
    "__main__": 12,
}


def manifests(root):
    return {p.parent.name: tomllib.loads(p.read_text()) for p in root.glob("crates/*/Cargo.toml")}


def test_crates_depend_only_on_lower_ones(root):
    found = manifests(root)
    assert {"core", "queueing", "sim", "python"} <= found.keys()
    for crate, manifest in found.items():
        assert crate in ALLOWED, f"{crate} has no place in the layers"
        inner = {
            d.removeprefix("spillgate-")
            for d in manifest.get("dependencies", {})
            if d.startswith("spillgate-")
        }
        assert inner <= ALLOWED[crate], f"{crate} must not use {sorted(inner - ALLOWED[crate])}"


def libraries(manifest):
    """What a crate depends on, on whatever system."""
    yield from manifest.get("dependencies", {})
    for system in manifest.get("target", {}).values():
        yield from system.get("dependencies", {})


@pytest.mark.parametrize(
    ("library", "homes"),
    [
        ("aligned-vec", {"core"}),
        ("parquet", {"output"}),
        ("pyo3", {"python"}),
        ("rayon", {"sim"}),
        ("rustix", {"core"}),
    ],
)
def test_libraries_stay_where_they_belong(root, library, homes):
    users = {c for c, m in manifests(root).items() if library in libraries(m)}
    assert users <= homes


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "spillgate":
            if node.module == "spillgate":
                yield from (a.name for a in node.names)
            else:
                yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("spillgate."):
                    yield alias.name.split(".")[1]


def test_modules_import_only_lower_ones(root):
    package = root / "python/spillgate"
    for path in package.rglob("*.py"):
        layer = path.relative_to(package).parts[0].removesuffix(".py")
        if layer == "__init__":
            continue
        for name in imported(path):
            if name == "_native":
                assert layer == "_engine", f"{path} touches the native module"
            elif name in RANK:
                assert RANK[name] < RANK[layer] or name == layer, f"{layer} imports {name}"
            else:
                assert name in ("__version__", "__commit__"), f"{layer} imports {name}"
                assert layer == "cli"


def test_papers_stand_above_the_package_which_does_not_need_them(root):
    for path in (root / "papers").rglob("*.py"):
        used = {name for name in imported(path) if name in RANK}
        assert max((RANK[n] for n in used), default=0) < RANK["cli"], f"{path} imports {used}"
    for path in (root / "python/spillgate").rglob("*.py"):
        # Only for types, where entry points give papers.
        lines = path.read_text(encoding="utf-8").splitlines()
        named = [x for x in lines if re.match(r"(from|import) spillgate_papers", x)]
        assert not named, f"{path} needs papers"
    papers = tomllib.loads((root / "papers/pyproject.toml").read_text(encoding="utf-8"))
    version = tomllib.loads((root / "Cargo.toml").read_text(encoding="utf-8"))
    assert papers["project"]["version"] == version["workspace"]["package"]["version"]
    assert papers["project"]["dependencies"] == [
        "pyyaml>=6,<7",
        f"spillgate[analysis,plot]=={papers['project']['version']}",
    ]


# The rooms of the simulator, and which of them each may use. The engine is the definition of what
# is computed; the lane beside it is entered by its hooks alone.
ROOMS = {
    "engine": {"engine", "node", "express", "observe"},
    "node": {"engine", "node", "express"},
    "express": {"engine", "node", "express"},
    "observe": {"engine", "node", "observe", "express"},
    "": {"node", "express", "observe", "engine"},
}

# What others may name of the lane: its state, what it has to be told at the start, the ports that
# it keeps, and what a sample shows of them.
OF_THE_LANE = {"Lane", "Known", "Sample", "kept", "taken_plainly"}


def rust_rooms(root):
    source = root / "crates/sim/src"
    for path in sorted(source.rglob("*.rs")):
        top = path.relative_to(source).parts
        yield path, top[0] if len(top) > 1 and top[0] in ROOMS else ""


def test_rooms_of_the_simulator_use_only_what_they_may(root):
    seen = set()
    for path, room in rust_rooms(root):
        text = path.read_text(encoding="utf-8")
        used = set(re.findall(r"\bcrate::(engine|node|express|observe)\b", text))
        assert used <= ROOMS[room] | {room}, f"{path.name} of `{room}` uses {sorted(used)}"
        seen.add(room)
        if room != "express":
            names = re.findall(r"\bcrate::express::(?:\{([^}]*)\}|(\w+))", text)
            named = {n.strip() for group in names for n in ",".join(group).split(",") if n.strip()}
            assert named <= OF_THE_LANE, f"{path.name} names {sorted(named - OF_THE_LANE)}"
    assert seen == set(ROOMS)


def test_the_express_lane_is_entered_by_its_hooks(root):
    source = root / "crates/sim/src"
    door = (source / "express/mod.rs").read_text(encoding="utf-8")
    hooks = set(re.findall(r"pub\(crate\) fn (lane_\w+)", door))
    assert 0 < len(hooks) < 10
    for path, room in rust_rooms(root):
        text = path.read_text(encoding="utf-8")
        if room == "express" and path.name != "mod.rs":
            # What the compiler keeps from others: methods of the world are of this room alone.
            for world in re.findall(r"\nimpl<S: EventSet> World<S> \{.*?\n\}\n", text, re.S):
                assert "pub(crate)" not in world, f"{path.name} opens another door"
    called = {}
    for path, room in rust_rooms(root):
        if room != "express":
            text = path.read_text(encoding="utf-8")
            for name in re.findall(r"self\.(\w+)\(", text):
                called.setdefault(name, path.name)
    assert hooks <= called.keys(), f"nobody tells the lane: {sorted(hooks - called.keys())}"


def test_every_file_of_tests_is_in_a_binary(root):
    for tests in root.glob("crates/*/tests"):
        mains = [tests / "main.rs", *tests.glob("*/main.rs")]
        named = {
            (m.parent, n) for m in mains for n in re.findall(r"^mod (\w+);", m.read_text(), re.M)
        }
        files = {(p.parent, p.stem) for p in tests.glob("*.rs") if p.name != "main.rs"}
        files |= {(p.parent.parent, p.parent.name) for p in tests.glob("*/mod.rs")}
        assert files <= named, f"no main.rs names {sorted(n for _, n in files - named)}"


def test_comment_lines_of_rust_keep_to_100_columns(root):
    folders = ("bench", "crates", "examples", "fuzz")
    sources = [p for f in folders for p in (root / f).rglob("*.rs") if "target" not in p.parts]
    assert len(sources) > 300
    long = [
        f"{path.relative_to(root)}:{number}"
        for path in sources
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > 100 and line.lstrip().startswith("//")
    ]
    assert not long, "wrap these comments: " + ", ".join(long)
