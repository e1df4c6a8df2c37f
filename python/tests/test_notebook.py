"""What notebooks show: whole, escaped, without a script and without a request."""

import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import pytest

import spillgate
from conftest import make_results
from spillgate import displayed
from spillgate.displayed import Displayed, Several
from spillgate.find import Answer, Frontier, Key, Point
from spillgate.report.html import fragment_style
from spillgate.shown.notebook import MOST, html, sheet

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&\u202e\x1b[31m"
SHORT = {"measurement.duration": "2 s", "measurement.warmup": "1 s"}
LOAD = {"name": "load", "set": "topology.links.uplink.rate", "values": ["5 Mb/s", "20 Mb/s"]}
VOID = {"img", "br", "input"}


class Fragment(HTMLParser):
    """Reads a fragment; `problems` are what no fragment may have."""

    def __init__(self, text):
        super().__init__()
        self.open, self.problems, self.seen = [], [], []
        self.text = ""
        self.feed(text)
        self.close()
        self.problems += [f"not closed: {tag}" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag in ("script", "iframe", "object", "embed", "link", "img", "form", "base"):
            self.problems.append(tag)
        for name, value in attrs:
            if name.startswith("on") or name in ("href", "src", "id", "style"):
                self.problems.append(f"{tag} {name}={value}")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"closes {tag}")

    def handle_data(self, data):
        if self.open[-1:] != ["style"]:
            self.text += data

    def all(self, tag):
        return [attrs for name, attrs in self.seen if name == tag]


@pytest.fixture(scope="module")
def results(root):
    return spillgate.run(root / "examples/first/scenario.yaml", runs=3, set=SHORT)


@pytest.fixture(scope="module")
def things(root, results, tmp_path_factory):
    """One of each kind."""
    first = root / "examples/first/scenario.yaml"
    saved = results.save(tmp_path_factory.mktemp("notebook") / "run")
    point = Point("2 Mb/s", 2e6, "pass", 10, ())
    answer = Answer(
        Key("a.b", "1 Mb/s", "4 Mb/s"), "2 Mb/s", None, "1 Mb/s", 0.95, True, (point,), {}, ("x",)
    )
    return {
        "results": results,
        "described": spillgate.check(root / "examples/voice-edge/scenario.yaml"),
        "findings": spillgate.lint(root / "examples/ce-node/policies.cfg"),
        "bounds": spillgate.bound(first),
        "estimates": spillgate.estimate(first),
        "simulated": results.estimates(),
        "explanation": spillgate.explain(saved, worst=2, drops=1),
        "best": spillgate.best(first, "voice:owd_p99", within="5 ms", set=SHORT, first=3, most=3),
        "answer": answer,
        "frontier": Frontier(answer.key, Key("c.d", "1", "2"), (("1", answer), ("2", "none"))),
        "compared": spillgate.compare(first, port="uplink", aqm=["codel"], runs=2, set=SHORT),
        "exported": spillgate.export(
            root / "examples/ce-node/policies.cfg", to="tc", policy="FIFO", rate="100 Mb/s"
        ),
    }


KINDS = (
    *("results", "described", "findings", "bounds", "estimates", "simulated", "explanation"),
    *("best", "answer", "frontier", "compared", "exported"),
)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_stands_alone_in_a_cell(things, kind):
    shown = things[kind]._repr_html_()
    page = Fragment(shown)
    assert page.problems == []
    assert not re.search(r"https?:|url\(|@import", shown)
    assert page.text.strip()
    assert len(shown) < 200_000


@pytest.mark.parametrize("kind", KINDS)
def test_tables_and_charts_have_names_for_screen_readers(things, kind):
    page = Fragment(things[kind]._repr_html_())
    tables = page.all("table")
    assert len(page.all("caption")) == len(tables)
    assert all(th.get("scope") for th in page.all("th"))
    for drawing in page.all("svg"):
        hidden = drawing.get("aria-hidden") == "true"
        assert hidden or drawing.get("aria-label") or drawing.get("class") == "view"
    assert all(p.get("aria-label") for p in page.all("div") if p.get("tabindex"))


def test_results_say_their_outcome_and_draw_one_figure(results):
    page = Fragment(results._repr_html_())
    assert results.conclusion.headline in page.text
    assert len(page.all("figure")) == 1
    assert "± half of the 95 % interval" in page.text


def test_a_study_says_its_answer(root):
    found = spillgate.run(
        root / "examples/first/scenario.yaml",
        runs=2,
        set={**SHORT, "axes": [LOAD]},
    )
    page = Fragment(found._repr_html_())
    assert page.problems == []
    assert "4 points" in page.text
    assert "20 Mb/s" in page.text


def test_names_stay_text():
    made = make_results(
        name=HOSTILE,
        warnings=[HOSTILE],
        sla=[{"class": HOSTILE, "requirement": HOSTILE, "basis": HOSTILE}],
        links=[{"name": HOSTILE, "from": HOSTILE, "to": "b", "rate": 1e8, "delay": 1e-3}],
    )
    for thing in (made, made.description):
        shown = thing._repr_html_()
        assert Fragment(shown).problems == []
        assert "\u202e" not in shown
        assert "\x1b" not in shown


def test_several_stand_below_each_other_and_are_a_tuple(things):
    bounds = things["bounds"]
    assert isinstance(bounds, tuple)
    assert len(Fragment(bounds._repr_html_()).all("section")) == len(bounds) == 2
    many = Several([bounds[0]] * (MOST + 3))
    page = Fragment(html(many))
    assert len(page.all("section")) == MOST
    assert "3 more follow." in page.text


def test_long_lists_are_counted(things):
    many = replace(things["findings"], found=things["findings"].found[:1] * (MOST + 5))
    assert "5 more are in the object." in Fragment(many._repr_html_()).text


def test_the_style_is_for_the_fragment_alone():
    rules = re.findall(r"([^{}]+)\{[^{}]*\}", fragment_style())
    assert len(rules) > 50
    for selectors in rules:
        assert all(".spillgate:not(#_)" in one for one in selectors.split(","))


def test_what_is_not_known_is_refused():
    with pytest.raises(TypeError, match="nothing shows int"):
        sheet(7)


def test_nothing_is_shown_where_nobody_draws(monkeypatch):
    monkeypatch.setattr(displayed, "_drawing", [])
    assert Displayed()._repr_html_() is None


def test_a_cell_pays_for_drawing_only_when_it_shows():
    program = "import spillgate, sys; print([m for m in sys.modules if 'jinja2' in m])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
