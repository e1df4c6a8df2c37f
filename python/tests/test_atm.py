"""Circuits and switches of ATM from the command line and from Python, end to end."""

import pytest

import spillgate


@pytest.fixture(scope="module")
def found(root, tmp_path_factory):
    """The corpus's scenario of ATM, and its directory."""
    where = tmp_path_factory.mktemp("atm") / "run"
    results = spillgate.run(root / "corpus/atm.yaml")
    results.save(where)
    return results, where


def values(results, variant, **wanted):
    rows = results.table(**wanted)
    return {(r.name, r.metric): r.mean for r in rows if r.variant == variant}


def test_merged_cells_are_cells(root, found):
    results, _ = found
    exact = spillgate.run(root / "corpus/atm.yaml", engine="plain")
    assert values(results, "merged") == values(exact, "merged")


def test_ports_have_rows(found):
    results, _ = found
    ports = values(results, "merged", scope="atm-port")
    assert {name for name, _ in ports} >= {"trunk", "out"}
    for name in ("trunk", "out"):
        assert 0.0 < ports[name, "cells_lost"] < ports[name, "cells_offered"]
        assert ports[name, "loss_ratio"] == pytest.approx(
            # Of the means of two runs, not the mean of their ratios.
            ports[name, "cells_lost"] / ports[name, "cells_offered"],
            rel=0.1,
        )
    cells = [s for s in results.series() if s.metric == "backlog_cells"]
    assert {"trunk", "out"} <= {s.where for s in cells}
    assert max(s.peak for s in cells) > 0.0
    unit = {r.unit for r in results.table(scope="atm-port", metric="backlog_cells_mean")}
    assert unit == {"cells"}
    reasons = ("drops_cell", "drops_frame", "drops_epd")
    merged, ideal = (values(results, v, scope="total") for v in ("merged", "ideal"))
    assert sum(merged["all", reason] for reason in reasons) > 0.0
    assert ideal["all", "drops_frame"] == 0.0


def test_the_command_line_shows_circuits_and_switches(root, cli, tmp_path):
    checked = cli("check", root / "corpus/atm.yaml")
    assert checked.returncode == 0
    text = " ".join(checked.stdout.split())
    assert "nrt-vbr" in text
    # The longest cell of the table wraps.
    row = "s 5 400 cells shared fifo epd from 320 cells, tag aal5 tagged from 300 cells"
    assert row in text
    short = ("--runs", "1", "--no-figures", "--out", tmp_path / "run")
    shown = cli("run", root / "corpus/atm.yaml", *short)
    assert shown.returncode == 0
    assert "output ports of ATM switches; mean over the runs" in shown.stdout
    page = (tmp_path / "run/report.html").read_text(encoding="utf-8")
    assert '<section id="atm-ports"' in page
    assert "nrt-vbr" in cli("list", "contracts").stdout


def test_explain_follows_a_packet_through(found):
    _, where = found
    (group,) = spillgate.explain(where, variant="merged", flow="frames", worst=2, drops=2).groups
    for packet in group["packets"]:
        parts = [h["parts"] for h in packet["hops"]]
        assert sum(sum(p.values()) for p in parts) == packet["delay"]
    assert {d["reason"] for d in group["drops"]} <= {"drops_cell", "drops_frame", "drops_epd"}


@pytest.fixture(scope="module")
def shared(root):
    """The corpus's scenario of circuits that share a line."""
    return spillgate.run(root / "corpus/atm-lines.yaml")


def test_merged_slots_are_slots(root, shared):
    exact = spillgate.run(root / "corpus/atm-lines.yaml", engine="plain")
    assert values(shared, "shared") == values(exact, "shared")


def test_lines_carry_what_their_circuits_carry(shared):
    line = values(shared, "shared", scope="atm-line")["edge/atm0", "carried"]
    links = values(shared, "shared", scope="link")
    circuits = sum(links[name, "carried"] for name in ("voice", "shop", "backup", "out"))
    # A packet of each of 32 cells and less may be on its way at both edges of 2 s.
    assert line == pytest.approx(circuits, abs=4 * 2 * 32 * 424 / 2)
    assert values(shared, "shared", scope="atm-line")["edge/atm0", "utilization"] > 0.9
    # What has a guarantee has it; what has none has less than on a line of its own.
    apart = values(shared, "apart", scope="link")
    assert links["voice", "carried"] == pytest.approx(apart["voice", "carried"], rel=0.01)
    assert links["backup", "carried"] < 0.9 * apart["backup", "carried"]


def test_the_command_line_shows_lines(root, cli, tmp_path):
    checked = cli("check", root / "corpus/atm-lines.yaml")
    assert checked.returncode == 0
    assert "ATM 0/33 on atm0, nrt-vbr" in " ".join(checked.stdout.split())
    short = ("--runs", "1", "--no-figures", "--out", tmp_path / "run")
    shown = cli("run", root / "corpus/atm-lines.yaml", *short)
    assert shown.returncode == 0
    assert "lines that circuits of ATM share; mean over the runs" in shown.stdout
    page = (tmp_path / "run/report.html").read_text(encoding="utf-8")
    assert '<section id="atm-lines"' in page
