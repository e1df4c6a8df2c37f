"""Metrics, reasons of losses and verdicts are those of the core's tables, wherever they stand."""

import ast
import importlib.util
import re

import pytest

import spillgate
from spillgate.cli import verdicts as verdicts_
from spillgate.labels import words

# What looks like a metric and is none: columns of captures and of admission.csv, keys of policies,
# names of tests.
NONE = {"gap_cv2", "waiting_s", "priority_policer", "fair_queue", "loss_weight"}
NONE |= {
    "drop_bps",
    "drop_batch",
    "queue_depth",
    "queue_packets",
    "queue_bytes",
    "queue_in_bytes_",
}
NONE |= {"queue_limit", "queue_limit_dscp", "queue_limit_precedence"}
NONE |= {"l4s_ect", "classic_ecn_fallback", "classic_protection", "classic_share", "drop_dequeue"}
NONE |= {
    "drops_after_a_push_out_are_close",
    "drops_at_arrival_count_in_the_measured_period_only",
}

# A heading of the table of nodes, where packets wait for the processor and flows for nothing.
# Packets in profile, which is no metric, are a row of a figure and part of headings.
ELSEWHERE = {
    ("nodes.py", "longest wait"),
    ("nodes.py", "in profile"),
    ("show.py", "in profile"),
    ("system.py", "in profile"),
}


@pytest.fixture(scope="module")
def named():
    """The names of metrics and sampled values."""
    return {e["name"] for family in ("metrics", "series") for e in spillgate.catalog()[family]}


def constants(path):
    """The texts of a module that are no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def pages(root):
    built = root / "docs/_build"
    found = [root / "README.md", *root.glob("examples/*/README.md"), *root.glob("docs/**/*.md")]
    return [p for p in found if built not in p.parents]


def names_in(root):
    """What may be names of metrics, with where it stands: in Python, pages and scenarios."""
    for path in (root / "python/spillgate").rglob("*.py"):
        yield from ((path, text) for text in constants(path))
    for path in pages(root):
        text = path.read_text(encoding="utf-8")
        yield from ((path, name) for name in re.findall(r"`([^`\n]+)`", text))
    for folder in ("examples", "corpus"):
        for path in (root / folder).rglob("*.yaml"):
            text = path.read_text(encoding="utf-8")
            yield from ((path, name) for name in re.findall(r"\bmetric: (\w+)", text))


def test_what_is_named_like_a_metric_is_one(root, named):
    first = sorted({name.split("_")[0] for name in named if "_" in name})
    like = re.compile(rf"(?:{'|'.join(first)})_\w+")
    found = [(p.name, n) for p, n in names_in(root) if like.fullmatch(n)]
    assert len({n for _, n in found} & named) > 40
    assert [f for f in found if f[1] not in named | NONE] == []


def test_the_schema_bounds_what_has_a_good_side():
    text = str(spillgate.schema()["$defs"]["SlaMetric"])
    bounded = set(re.findall(r"'const': '(\w+)'", text))
    assert len(bounded) > 20
    better = {m.name: m.better for m in spillgate.metrics()}
    assert all(better[name] in ("less", "more") for name in bounded)


def test_texts_of_the_tables_stand_nowhere_else(root):
    texts = {
        entry[key]
        for family in ("scopes", "metrics", "series", "drops", "verdicts", "effects", "delays")
        for entry in spillgate.catalog()[family]
        for key in ("label", "short", "summary")
        if " " in entry.get(key, "")
    }
    assert len(texts) > 200
    told = {
        (path.name, text)
        for path in (root / "python/spillgate").rglob("*.py")
        for text in constants(path)
        if text in texts
    }
    assert told - ELSEWHERE == set()
    # Pages show outputs with their headings; what a metric is says the generated reference alone.
    meanings = [m.summary for m in spillgate.metrics()]
    for page in pages(root):
        text = page.read_text(encoding="utf-8")
        assert [m for m in meanings if f" {m} " in text] == [], page


def test_every_verdict_has_a_color_everywhere(root):
    verdicts = set(words("verdicts"))
    assert set(verdicts_._COLORS) == verdicts
    style = (root / "python/spillgate/report/parts.css").read_text(encoding="utf-8")
    assert {v for v in verdicts if re.search(rf"\.{v}\b", style)} == verdicts
    ordered = sorted(words("verdicts").values(), key=lambda v: v["severity"])
    assert [v["name"] for v in ordered] == ["pass", "undecided", "fail"]


def test_every_metric_is_documented(root):
    spec = importlib.util.spec_from_file_location("generate", root / "docs/generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    page = generate.metrics()
    assert "metrics.md" in (root / "docs/reference/metrics.md").read_text(encoding="utf-8")
    for m in spillgate.metrics():
        assert f"| `{m.name}` | {m.label} |" in page
        assert m.summary.strip()
    assert all(
        e["summary"].strip() for f in ("scopes", "series", "drops") for e in words(f).values()
    )


SWITCH = {
    "schema_version": 1,
    "topology": {
        "nodes": ["a", {"name": "s", "switch": {"architecture": "voq"}}, "b"],
        "links": {
            "in": {"from": "a", "to": "s", "rate": "10 Mb/s"},
            "out": {"from": "s", "to": "b", "rate": "10 Mb/s", "policy": "RED"},
        },
        "rewrite_ecn": {"in": {"ce": "not-ect"}},
    },
    "policies": {"RED": {"fifo": {"aqm": {"red": {"unit": "bytes"}}}}},
    "traffic": [
        {
            "flow": {
                "name": "f",
                "from": "a",
                "to": "b",
                "source": {"cbr": {"rate": "1 Mb/s", "packet": "500 B"}},
            }
        }
    ],
}


def test_every_metric_can_be_had(root):
    scenarios = [*sorted((root / "corpus").glob("*.yaml")), SWITCH]
    brief = {f"measurement.{k}": "10 ms" for k in ("duration", "interval")}
    brief |= {"measurement.warmup": "0 s", "measurement.gaps": "{}"}
    brief["measurement.percentiles"] = "[backlog]"
    found = set()
    for scenario in scenarios:
        results = spillgate.run(scenario, runs=1, series=[], set=brief)
        found |= {row.metric for row in results.table()}
    assert {m.name for m in spillgate.metrics()} - found == set()
