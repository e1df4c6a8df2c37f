"""The benchmark tables: verdicts on floors, and scenarios that are made."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

import spillgate

BENCH = Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    sys.path.insert(0, str(BENCH))
    try:
        spec = importlib.util.spec_from_file_location("bench_run", BENCH / "run.py")
        assert spec
        assert spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules["bench_run"] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(BENCH))
    return module


def test_a_floor_is_met_or_missed(bench):
    case = bench.Case("c", "x.yaml", min_delivered_per_s=6e6, max_ns_per_hop=100, max_mb=50)
    # 6 million packets over five hops in a second: 33 ns a hop.
    met = case.judge(cpu_s=1.0, peak_mb=10, delivered=6_000_000, hops=30_000_000)
    assert met == (">= 6 M delivered/s, <= 50 MB, <= 100 ns/hop", True)
    for worse in (
        {"cpu_s": 1.01},
        {"peak_mb": 51},
        {"delivered": 5_999_999},
        {"hops": 9_999_999},
    ):
        figures = {
            "cpu_s": 1.0,
            "peak_mb": 10,
            "delivered": 6_000_000,
            "hops": 30_000_000,
            **worse,
        }
        assert not case.judge(**(figures | worse))[1], worse
    assert bench.Case("c", "x.yaml").judge(1, 1, 1, 1) == ("", True)


def test_every_row_has_a_floor_or_an_exception(bench):
    for case in bench.CASES:
        words, _ = case.judge(1.0, 1.0, 1, 1)
        assert words, case.name
    names = [c.name for c in bench.CASES]
    assert len(set(names)) == len(names)


def test_the_floors_are_those_of_the_row(bench):
    floors = {c.name: c for c in bench.CASES}
    assert floors["D50, 1,000 B on the wire"].min_delivered_per_s == 6e6
    assert floors["D1k: 1,000 TCP flows"].min_delivered_per_s == 4.5e6
    assert floors["D10k: 10,000 TCP flows"].min_delivered_per_s == 1.4e6
    plain = floors["D50, plain engine"]
    assert plain.min_delivered_per_s == 1.5e6
    assert "--plain" in plain.args(Path())
    for network in ("mesh", "fat-tree"):
        assert floors[f"{network}, FIFO"].max_ns_per_hop == 100
        for policy in ("DRR", "FQ-CODEL", "CLASSES"):
            assert floors[f"{network}, {policy}"].max_ns_per_hop == 150


def test_every_scenario_of_the_tables_can_be_run(bench, tmp_path):
    cases = [*bench.CASES, *(bench.Case(n, f"feature {n}") for n in bench.NAMES)]
    for case in cases:
        file, *settings = (a.removeprefix("--set=") for a in case.args(tmp_path) if a != "--plain")
        assert spillgate.check(file, set=settings) is not None, case.name


def test_a_feature_is_the_only_difference(bench: ModuleType):
    assert bench.NAMES
    features = sys.modules["features"]
    for name in features.NAMES:
        text, plain = features.feature(name), features.feature(features.base(name))
        lines, base = text.splitlines(), plain.splitlines()
        if name == "100 classes":  # has as many flows
            continue
        assert len(lines) == len(base)
        differing = [a for a, b in zip(lines, base, strict=True) if a != b]
        if name in features.SOURCES:
            assert all("source" in line for line in differing)
        else:
            # Connections that want marks have another queue, too.
            assert len(differing) <= 2
