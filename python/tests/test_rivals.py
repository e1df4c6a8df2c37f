"""Mechanisms of today beside a paper's own."""

import importlib
import json
import math
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from spillgate.cli import main
from spillgate.cli import reproduce as command
from spillgate.errors import InputError
from spillgate_papers import rivals
from spillgate_papers.declared import Declared
from spillgate_papers.lab import Effort
from spillgate_papers.measured import PerRun, View
from spillgate_papers.mitroi import PAPER as MITROI
from spillgate_papers.rivals import Modern
from spillgate_papers.terms import busiest

PAPERS = ("mitroi", "domzal", "shrivastav", "chien", "zheng")


def paper(name):
    return importlib.import_module(f"spillgate_papers.{name}").PAPER


def modern(**of):
    """Own A and B beside the others."""
    of = {"more": {}, "less": {}, **of}
    return Modern(["x"], {"A": "a", "B": "b"}, 10, 1500, Effort(0.0, 1.0, runs=2), **of)


def seconds(*values):
    return PerRun(values, "s")


@pytest.mark.parametrize("name", PAPERS)
def test_every_mechanism_can_be_run_in_the_paper_s_system(name, tmp_path):
    """Validated, not run: the policies, and that the paper's own are points of its grid."""
    for quick in (False, True):
        frame = paper(name)
        study = frame._study(tmp_path / str(quick), quick, 1, 2, jobs=1, store=None)
        cases, effort = frame.modern.cases(study), frame.modern.effort.of(study.lab)
        others = [x for x in cases if x not in frame.modern.own]
        assert others == list(rivals.KINDS)
        assert len({json.dumps(c, sort_keys=True) for c in cases.values()}) == len(cases)
        study.lab.simulation(cases, effort)


@pytest.mark.parametrize("name", PAPERS)
def test_the_page_has_the_mechanisms_and_the_metrics(name, root):
    """Its numbers come from longer runs; `docs/refresh.py rivals` writes them."""
    page = (root / f"docs/papers/{name}.md").read_text(encoding="utf-8")
    [table] = re.findall(r"<!-- table modern -->\n(.*?)<!-- end -->", page, re.DOTALL)
    rows = [[c.strip() for c in x.split("|")[1:-1]] for x in table.splitlines() if x[:2] == "| "]
    of = paper(name).modern
    assert rows[0] == ["mechanism", *of.more, *of.less]
    shown = [row[0] for row in rows[2:]]
    assert shown[: len(of.own)] == list(of.own)
    assert set(shown) - {*of.own} == set(rivals.KINDS)
    assert of.note in table


def test_brief_runs_tell_a_queue_for_each_class_from_one_for_all(tmp_path):
    section = MITROI.rivals(tmp_path, quick=True, runs=2, jobs=1)
    [table] = section.tables
    rows = {row[0]: dict(zip(table.head, row, strict=True)) for row in table.rows}
    assert list(rows)[:4] == [*MITROI.modern.own, "fifo"]
    # LLQ has room for voice; FIFO drops a fifth of what comes, of whatever class.
    assert rows["CBWFQ-LLQ"]["voice loss"].mean < 0.001
    assert 0.1 < rows["fifo"]["voice loss"].mean < 0.3
    # 320 packets of 1500 B at 100 Mb/s are 38 ms.
    assert rows["fifo"]["voice delay"].mean == pytest.approx(0.0394, rel=0.02)
    assert "2 runs each, measured from 1 to 2 s" in section.text
    assert "holds 320 packets" in section.text


def test_who_is_ahead():
    of = modern(more={"rate": None}, less={"delay": None})
    values = {
        "A": seconds(3.0, 3.1, 3.2),
        "B": seconds(2.0, 2.1, 2.2),
        "fifo": seconds(4.0, 4.1, 4.3),
        "pie": seconds(1.0, 1.1, 1.3),
    }
    # The paper's best and the best of the others: B and pie where less is better, else A and fifo.
    [(winner, said)] = of._ahead("delay", values, 1)
    assert winner == "other"
    # Differences of 1.0, 1.0 and 0.9 s: 0.967 s, t(0.975, 2) times 0.0577 / sqrt(3) is 0.143 s.
    assert said == "delay (pie 1.1 ±0.4 s, B 2.1 ±0.2 s: by 967 ±143 ms)"
    [(winner, said)] = of._ahead("rate", values, 1)
    assert winner == "other"
    assert said.startswith("rate (fifo 4.1")
    # The same the other way round.
    swapped = {"A": values["pie"], "B": values["fifo"], "fifo": values["A"], "pie": values["B"]}
    assert [w for w, _ in of._ahead("delay", swapped, 1)] == ["own"]
    assert [w for w, _ in of._ahead("rate", swapped, 1)] == ["own"]


def test_what_is_certain_alone_may_not_be_among_many():
    """Differences of 2, 2.5 and 3 have t = 8.7; of 1, 2 and 3 they have 3.5, and 4.3 is needed."""
    of = modern(less={"delay": None})
    values = {"A": seconds(2.0, 2.5, 3.0), "fifo": seconds(0.0, 0.0, 0.0)}
    assert [w for w, _ in of._ahead("delay", values, 1)] == ["other"]
    # With two degrees of freedom p is 0.013, more than a hundredth of 0.05.
    assert [w for w, _ in of._ahead("delay", values, 100)] == [""]
    unsure = {"A": seconds(1.0, 2.0, 3.0), "fifo": seconds(0.0, 0.0, 0.0)}
    assert [w for w, _ in of._ahead("delay", unsure, 1)] == [""]
    alike = dict.fromkeys(("A", "fifo"), seconds(0.0, 0.0, 0.0))
    assert [w for w, _ in of._ahead("delay", alike, 1)] == [""]


def test_what_a_mechanism_does_not_have_is_not_compared():
    of = modern(less={"wait": None})
    none = seconds(math.nan, math.nan)
    assert list(of._ahead("wait", {"A": seconds(1.0, 2.0), "fifo": none}, 1)) == []
    assert rivals._cell(none) == "–"


def test_the_others_have_the_defaults_of_their_kinds_but_for_what_the_paper_needs():
    of = modern(parameters={"codel": {"target": "12 ms"}, "cake": {"tins": "besteffort"}})
    others = of.others()
    assert others["fifo"] == {"policies.RIVAL": {"fifo": {"limit": "10 packets"}}, "x": "RIVAL"}
    assert others["codel"]["policies.RIVAL"] == {
        "fifo": {"limit": "10 packets", "aqm": {"codel": {"target": "12 ms"}}}
    }
    assert others["pie"]["policies.RIVAL"] == {"fifo": {"limit": "10 packets", "aqm": {"pie": {}}}}
    assert others["fq-codel"]["policies.RIVAL"] == {"fq-codel": {"limit": "10 packets"}}
    assert "but for codel: target 12 ms; cake: tins besteffort. " in of._said({}, of.effort)


def test_a_discipline_that_counts_bytes_holds_as_many_packets():
    policy = modern().others()["cake"]["policies.RIVAL"]
    assert policy == {"cake": {"memory_limit": "15000 B"}}


def test_the_queue_of_a_link_is_the_one_that_is_offered_the_most():
    values = {
        ("core/bulk", "packets_offered"): (0.0, 1.0),
        ("core/best", "packets_offered"): (9.0, 8.0),
        ("core/bulk", "backlog"): (5.0, 5.0),
        ("core/best", "backlog"): (2.0, 3.0),
    }
    measured = SimpleNamespace(
        names=lambda *_: ["other/fifo", "core/bulk", "core/best"],
        of=lambda _, __, name, metric: PerRun(values[name, metric], "packets"),
    )
    view = View({"x": (measured, "x")})
    assert busiest("backlog", "x", "core").take(view).values == (2.0, 3.0)


# Bad input


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"parameters": {"codell": {}}}, "no rival is called 'codell'; there are codel"),
        ({"own": {"DSRED": "UBR, DSRAD"}}, "there is no point 'UBR, DSRAD'"),
        ({"limits": 1}, "rivals has no key 'limits'; there are limit"),
        ({"seconds": None}, "rivals lacks 'seconds'"),
        ({"own": {}}, "own of rivals names no mechanism of the paper"),
    ],
)
def test_mistakes_in_the_file(change, said):
    frame = paper("zheng")
    d = Declared(frame.system.parent, vars(importlib.import_module("spillgate_papers.zheng")))
    entry = d.data["rivals"]
    for key, x in change.items():
        entry[key] = x
        if x is None:
            del entry[key]
    with pytest.raises(InputError, match=re.escape(said)) as e:
        d.rivals()
    assert "paper.yaml:" in str(e.value)


def brief(**of):
    """A paper with one claim, and nothing varied."""
    claims = [replace(c, because=()) for c in MITROI.claims if c.id == "M3"]
    nothing = {"silent": (), "causes": (), "ledger": (), "sections": None, "figures": ()}
    return replace(
        MITROI, batches=MITROI.batches[:1], claims=claims, tables=(), **{**nothing, **of}
    )


@pytest.fixture
def installed(monkeypatch):
    kept = {"mitroi": brief(), "bare": brief(name="bare", modern=None)}
    loaded = {k: SimpleNamespace(load=lambda p=p: p) for k, p in kept.items()}
    monkeypatch.setattr(command, "installed", lambda: loaded)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["bare", "--rivals"], "bare names no rivals"),
        (["mitroi", "--rivals", "--search"], "leave --set and --search out"),
        (["mitroi", "--rivals", "--set", "a=b"], "leave --set and --search out"),
        (["mitroi", "--rivals", "--runs", "1"], "at least 2"),
    ],
)
def test_bad_arguments(arguments, said, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", *arguments, "--quick"]) == 2
    assert said in capsys.readouterr().err
    assert not any(p.is_file() for p in tmp_path.rglob("*"))


def test_choices_and_rivals_exclude_each_other(tmp_path):
    with pytest.raises(InputError, match="without set and search"):
        MITROI.reproduce(tmp_path, rivals=True, search=True)
    with pytest.raises(InputError, match="runs must be at least 2"):
        MITROI.rivals(tmp_path, runs=1)


# The command


@pytest.mark.usefixtures("installed")
def test_the_command_adds_the_section(tmp_path, capsys):
    out = tmp_path / "all"
    arguments = ["reproduce", "all", "--quick", "--runs", "2", "--rivals", "--out", str(out)]
    assert main([*arguments, "--format", "json"]) == 0
    bare, mitroi = json.loads(capsys.readouterr().out)["papers"]
    assert (bare["paper"], "rivals" in bare) == ("bare", False)
    names = [row["mechanism"] for row in mitroi["rivals"]]
    assert names[:3] == list(MITROI.modern.own)
    assert set(mitroi["rivals"][0]["voice loss"]) == {"mean", "low", "high", "unit"}
    page = (out / "mitroi/index.md").read_text(encoding="utf-8")
    assert page.index("## Modern rivals") < page.index("## The claims under other assumptions")
    assert (out / "mitroi/tables/modern.csv").is_file()
    # In words; the runs are taken from what is stored.
    assert main([*arguments, "--force"]) == 0
    shown = capsys.readouterr().out
    assert "Modern rivals" in shown
    assert "fq-codel" in shown
