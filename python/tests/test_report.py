"""The HTML report as text: what is in it, that it escapes, repeats, and asks nobody."""

import itertools
import json
import math
import re
import shlex
import subprocess
import sys
from array import array
from dataclasses import replace
from html.parser import HTMLParser

import pytest

import spillgate
from conftest import make_results, parts, summary_row, verdict_row
from spillgate import report
from spillgate.cli import main
from spillgate.errors import OutputError
from spillgate.report.facts import command
from spillgate.report.outlines import queues, trees
from spillgate.report.svg import log_ticks, ticks
from spillgate.report.timelines import band, pooled, thin
from spillgate.report.verdicts import matrix
from spillgate.rows import Series

VOID = {"meta", "br", "hr", "img", "input", "link", "col", "wbr"}


class Page(HTMLParser):
    """Reads a page strictly: what is opened must be closed, in order; names must be unique."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.refs, self.elements, self.texts = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == [], f"not closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        names = [k for k, _ in attrs]
        assert len(names) == len(set(names)), f"{tag} repeats an attribute: {names}"
        attributes = dict(attrs)
        self.elements.append((tag, attributes))
        if "id" in attributes:
            self.ids.append(attributes["id"])
        for key in ("aria-labelledby", "aria-describedby"):
            self.refs += (attributes.get(key) or "").split()
        if tag == "a":
            self.refs.append(attributes["href"].removeprefix("#"))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> without a start"
        assert self.open[-1] == tag, f"</{tag}> inside {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.texts.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", " ".join(self.texts))

    def all(self, tag, **wanted):
        return [
            a
            for t, a in self.elements
            if t == tag and all(a.get(k) == v for k, v in wanted.items())
        ]


@pytest.fixture(scope="module")
def results(root):
    return spillgate.run(
        root / "examples/first/scenario.yaml", runs=3, set={"measurement.duration": "4 s"}
    )


@pytest.fixture(scope="module")
def page(results):
    return Page(report.render(results))


def test_the_page_is_well_formed(page):
    assert len(page.ids) == len(set(page.ids))
    assert set(page.refs) <= set(page.ids)
    levels = [int(t[1]) for t, _ in page.elements if re.fullmatch("h[1-6]", t)]
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))
    # What a screen reader needs.
    assert all(a.get("aria-label") for a in page.all("svg", role="img"))
    assert all("scope" in a for a in page.all("th"))
    assert page.all("html")[0]["lang"] == "en"


def test_verdicts_come_first_with_words(page):
    text = page.text
    assert "Both requirements pass with llq; not with the other variant." in text
    assert "✓ pass" in text
    assert "✗ fail" in text
    assert "99 % delay ≤ 20 ms" in text
    assert text.index("Verdicts") < text.index("What each class got") < text.index("Provenance")


def test_every_part_is_there(page, results):
    ids = set(page.ids)
    assert {"verdicts", "classes", "charts", "losses", "policies", "basis"} <= ids
    assert {"later", "within", "time-backlog_packets", "time-throughput"} <= ids
    curves = [a for a in page.all("path") if a.get("class", "").startswith("line s")]
    # Two classes, each with the tail and the distribution function.
    assert len([a for a in curves if a.get("data-name") == "llq"]) == 4
    bands = [a for a in page.all("path") if a.get("class", "").startswith("band")]
    assert len(bands) >= 4
    assert "limit: 50" in page.text
    assert results.description.hash in page.text
    assert all(r.digest in page.text for r in results.runs)
    assert "--seed 1 --runs 3" in page.text


def test_each_chart_has_its_table(page):
    figures = page.all("figure")
    captions = [t for t in page.texts if t.endswith(" as a table")]
    assert len(figures) == len(captions) >= 4


def test_the_same_results_give_the_same_bytes(results):
    manifest = results.manifest(["spillgate", "run", "x.yaml"])
    assert report.render(results, manifest) == report.render(results, manifest)
    # How long it took and on how many threads is not what was found.
    other = {**manifest, "wall_s": 99.0, "jobs": 64}
    assert report.render(results, manifest) == report.render(results, other)


def test_nothing_is_asked_of_anyone(page, results):
    html = report.render(results)
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?!#)""", html)
    assert not re.search(r"@import|url\(|<link|<iframe|<img|fetch\(|XMLHttpRequest", html)
    # The only addresses are names of XML vocabularies.
    assert set(re.findall(r"https?://[^\s\"'<>)]+", html)) <= {"http://www.w3.org/2000/svg"}
    (policy,) = page.all("meta", **{"http-equiv": "Content-Security-Policy"})
    assert policy["content"].startswith("default-src 'none'")
    assert "unsafe-eval" not in policy["content"]


EVIL = "<script>alert('x')</script>&\"'"


def evil_results():
    """Results in which everything that a user may name is hostile."""
    data = json.loads(json.dumps(parts()).replace("voice", "EVIL").replace("LLQ", "EVIL2"))
    text = json.dumps(data)
    data = json.loads(
        text.replace("EVIL2", json.dumps(EVIL + "2")[1:-1]).replace("EVIL", json.dumps(EVIL)[1:-1])
    )
    made = make_results(
        name=EVIL,
        variants=["FIFO", EVIL + "2"],
        classes=[EVIL, "data"],
        links=[{"name": EVIL, "from": EVIL, "to": EVIL, "rate": 1e8, "delay": 1e-3}],
        files=[EVIL],
        warnings=[EVIL],
        unmodelled=[{"file": EVIL, "line": 1, "text": EVIL, "reason": EVIL}],
        outlines=[[None], [{**OUTLINE, "name": EVIL, "policy": EVIL}]],
    )
    made._values.data.update(data)
    return made


OUTLINE = {
    "name": "LLQ",
    "kind": "class-based",
    "policy": "LLQ",
    "queue": None,
    "level": None,
    "guaranteed": 100_000_000,
    "shape": None,
    "police": None,
    "limit_packets": None,
    "limit_bytes": None,
    "flow_packets": None,
    "promise": "",
    "limit": "",
    "flows": "",
    "aqm": None,
    "thresholds": [],
    "classes": [],
}


def test_hostile_names_stay_text():
    made = evil_results()
    manifest = {**made.manifest(["spillgate", "run", EVIL, "--set", EVIL]), "platform": EVIL}
    html = report.render(made, manifest)
    page = Page(html)
    assert len(page.all("script")) == 1
    assert "alert('x')</script>" not in html
    assert page.text.count("<script>alert('x')</script>") > 10


def test_results_without_runs_or_requirements_have_a_page():
    made = make_results(sla=[])
    data = {k: [] for k in parts()}
    made._values.data.update(data, partial=True)
    made.interrupted = True
    page = Page(report.render(made))
    assert "all results rest on 0 of 20 runs" in page.text
    assert "states no requirements" in page.text


def test_results_without_policies_have_a_page(made):
    # And without bands over the runs.
    page = Page(report.render(made))
    assert "policies" not in page.ids
    assert "later" in page.ids


@pytest.mark.parametrize(
    ("verdicts", "headline"),
    [
        (("fail", "pass"), "The requirement passes with LLQ; not with the other variant."),
        (("pass", "pass"), "The requirement passes with FIFO and LLQ; that is every variant."),
        (("fail", "fail"), "No variant passes every requirement."),
    ],
)
def test_headlines(verdicts, headline):
    found = matrix(make_results(verdicts))
    assert found.headline.startswith(headline)


def test_a_class_is_as_good_as_its_worst_requirement():
    made = make_results()
    rows = made._values.data["verdicts"]
    undecided = verdict_row("LLQ", "undecided", further=12)
    rows.append({**undecided, "metric": "pdv", "requirement": "pdv ≤ 20 ms"})
    (group,) = matrix(made).groups
    assert [c.verdict for c in group.cells] == ["fail", "undecided"]
    assert [c.note for c in group.lines[1].cells] == ["", "about 12 more runs would decide"]


def test_customers_and_sites_are_kept_apart(made):
    rows = made._values.data["verdicts"]
    agreed = {"site": "Cluj", "basis": "Y.1541 class 0", "level": 0.99}
    rows[:] = [
        {
            **rows[0],
            **agreed,
            "variant": v,
            "verdict": verdict,
            "customer": customer,
            "whose": f"{customer}: voice @ Cluj",
        }
        for v, customer, verdict in (
            ("FIFO", "Acme", "fail"),
            ("LLQ", "Acme", "pass"),
            ("FIFO", "Initech", "pass"),
            ("LLQ", "Initech", "pass"),
        )
    ]
    found = matrix(made)
    assert [g.name for g in found.groups] == ["Acme: voice @ Cluj", "Initech: voice @ Cluj"]
    assert [[c.verdict for c in g.cells] for g in found.groups] == [["fail", "pass"], ["pass"] * 2]
    text = Page(report.render(made)).text
    assert "Y.1541 class 0" in text


CUSTOMERS = """customer,site,nodes,class,preset,share,metric,max,min
Acme,,,voice,y1541-class-0,10 %,,,
Initech,,,voice,,,owd_p99,1 us,
"""


def test_customers_of_a_real_run_are_drawn(root, tmp_path):
    """From the file of requirements to the page, through a run directory."""
    (tmp_path / "sla.csv").write_text(CUSTOMERS)
    scenario = root / "examples/first/scenario.yaml"
    found = spillgate.run(
        scenario,
        runs=2,
        set={"measurement.duration": "2 s", "verdicts.looks": "once"},
        sla=[tmp_path / "sla.csv"],
    )
    loaded = spillgate.load(found.save(tmp_path / "run"))
    groups = {g.name: g for g in matrix(loaded).groups}
    assert {"Acme: voice", "Initech: voice", "voice"} <= groups.keys()
    assert {c.verdict for c in groups["Initech: voice"].cells} == {"fail"}
    made = Page(report.render(loaded))
    for said in ("Acme: voice", "Initech: voice", "y1541-class-0", "99 % delay ≤ 1 µs"):
        assert said in made.text, said


def test_any_run_has_charts_over_time(root, tmp_path):
    found = spillgate.run(
        root / "examples/first/scenario.yaml",
        runs=3,
        set={"measurement.duration": "2 s"},
        series=[0, 2],
    )
    assert {s.run for s in found.series()} == {0, 2}
    (one,) = found.series(where="class voice", metric="throughput", variant="llq", run=2)
    assert one in found.series()
    assert found.series(run=1) == ()
    # What is sampled changes nothing else.
    plain = spillgate.run(
        root / "examples/first/scenario.yaml", runs=3, set={"measurement.duration": "2 s"}
    )
    assert [r.digest for r in plain.runs] == [r.digest for r in found.runs]
    assert {s.run for s in plain.series()} == {0}
    loaded = spillgate.load(found.save(tmp_path / "run"))
    made = Page(report.render(loaded))
    names = ["all runs", "run 0", "run 2"]
    assert {f.get("data-runs") for f in made.all("figure")} == {None, *names}
    assert len(made.all("select", id="runs")) == 1
    assert len(made.ids) == len(set(made.ids))
    assert "Mean of 2 runs; the band holds all of them" in made.text
    one = {(s.variant, s.where, s.metric): s for s in loaded.series() if s.run == 0}
    two = {(s.variant, s.where, s.metric): s for s in loaded.series() if s.run == 2}
    for s in pooled(loaded.series()):
        a, b = (x[s.variant, s.where, s.metric].v for x in (one, two))
        for mean, low, high, x, y in zip(s.v, s.low, s.high, a, b, strict=True):
            assert (low, high) == (min(x, y), max(x, y))
            assert mean == pytest.approx((x + y) / 2)
    with pytest.raises(spillgate.InputError, match="there is no run 3"):
        spillgate.run(root / "examples/first/scenario.yaml", runs=3, series=[3])


def test_bands_of_long_series_hold_every_sample():
    v = [math.sin(i / 7) + 2 for i in range(1000)]
    w = [2 * x for x in v]
    (one,) = pooled([curve(v), curve(w, run=1)])
    t = one.t
    outline = band(one, 1.0, 100)
    assert len(outline) <= 4 * 100
    half = len(outline) // 2
    upper, lower = outline[:half], outline[half:][::-1]
    for at, x, y in zip(t, v, w, strict=True):
        left = max(i for i, p in enumerate(upper) if p[0] <= at)
        assert upper[left][1] >= y or upper[min(left + 1, half - 1)][1] >= y
        assert lower[left][1] <= x or lower[min(left + 1, half - 1)][1] <= x


def test_the_worst_packets_are_told(root, tmp_path, capsys):
    out = tmp_path / "run"
    scenario = root / "examples/first/scenario.yaml"
    options = ["--set", "measurement.duration=2 s", "--runs", "2", "--no-figures"]
    assert main(["run", str(scenario), *options, "--out", str(out)]) in (0, 1, 3)
    page = tmp_path / "page.html"
    assert main(["report", str(out), "--worst", "2", "--run", "1", "-o", str(page)]) == 0
    made = Page(page.read_text(encoding="utf-8"))
    assert "worst" in made.ids
    results = spillgate.load(out)
    for variant in results.description.variants:
        found = spillgate.explain(out, worst=2, variant=variant, run=1)
        for group in found.groups:
            for packet in group["packets"]:
                assert packet["sentence"] in made.text
        assert f"{variant}, run 1, fingerprint {found.digest}" in made.text
    assert "In words" in made.text
    capsys.readouterr()
    assert main(["report", str(out), "--run", "1", "-o", str(page)]) == 2
    assert "add --worst N" in capsys.readouterr().err
    assert main(["report", str(out), "--worst", "1", "--variant", "nine", "-o", str(page)]) == 2
    assert "there is no variant 'nine'" in capsys.readouterr().err


def test_trees_compare_promise_and_use():
    voice = {**OUTLINE, "name": "voice", "policy": None, "kind": None, "queue": "voice"}
    voice |= {"level": 1, "guaranteed": 20_000_000, "limit": "64 packets"}
    voice["promise"] = "strict priority, level 1, up to 20 Mb/s while anything waits"
    rest = {
        **OUTLINE,
        "name": "class-default",
        "policy": None,
        "kind": None,
        "queue": "class-default",
    }
    rest |= {"guaranteed": None}
    made = make_results(outlines=[[None], [{**OUTLINE, "classes": [voice, rest]}]])
    made._values.data["summary"] += [
        summary_row("LLQ", "queue", f"wan/{q}", metric, unit, value)
        for q, carried in (("voice", 15e6), ("class-default", 60e6))
        for metric, unit, value in (
            ("carried", "b/s", carried),
            ("offered", "b/s", 2 * carried),
            ("drops_tail", "packets", 1234.0),
            ("drops_early", "packets", 1.0),
            ("backlog_packets_max", "packets", 64.0),
        )
    ]
    (tree,), count = trees(made)
    assert count == 1
    top, first, second = tree.nodes
    assert (top.carried, top.offered, top.lost) == (0.75, 1.5, "2\N{NARROW NO-BREAK SPACE}470")
    assert (first.configured, first.carried, first.offered) == (0.2, 0.15, 0.3)
    assert (first.promise, first.limit) == (voice["promise"], "64 packets")
    assert (second.configured, second.carried) == (None, 0.6)


def test_wred_thresholds_are_those_of_the_traffic(root):
    found = spillgate.check(root / "examples/ce-node/scenario.yaml")
    wred = found.outlines[4][2]["classes"][2]
    assert wred["aqm"] == "wred"
    (written,) = [t for t in wred["thresholds"] if t["written"]]
    assert (written["min"], written["max"], written["dscp"]) == (26, 42, ["af31", "af32", "af33"])


def curve(values, step=1.0, run=0):
    v = array("d", values)
    return Series("v", run, "q", "backlog_packets", "packets", 0.0, step, v)


def test_long_series_are_thinned_to_their_extremes():
    kept = thin(curve((i % 100 for i in range(10_000)), 0.01), 1.0, 1000)
    assert len(kept) <= 1001
    # Every stretch of 20 samples keeps both of its ends of a saw tooth.
    assert {0.0, 99.0} <= {p[1] for p in kept}
    assert [p[0] for p in kept] == sorted(p[0] for p in kept)
    late = curve([math.nan, math.nan, 1.0, 2.0])
    assert thin(late, 1.0, 4) == [None, None, (2, 1.0), (3, 2.0)]
    assert thin(late, 1.0, 3) == [None, (2, 1.0), (3, 2.0)][1:]


@pytest.mark.parametrize(("low", "high"), [(0.0, 64.0), (0.9, 1.1), (-3.0, 7e9), (1e-7, 3e-7)])
def test_ticks_are_few_round_and_inside(low, high):
    found = ticks(low, high)
    assert 2 <= len(found) <= 7
    assert all(low - 1e-12 * high <= v <= high * (1 + 1e-9) for v in found)
    assert all(len(f"{v:g}") <= 7 for v in found)
    assert all(len(f"{v:g}") <= 7 for v in log_ticks(high / 300, high))


def test_the_command_repeats_what_changed_results(results):
    d = replace(results.description, seed=9, runs=2)
    argv = ["spillgate", "run", "a b.yaml", "--jobs", "4", "--set", "x.y='1 Mb/s'", "--out", "o"]
    said = command({"argv": [*argv, "--seed=9", "--force"], "scenario": "a b.yaml"}, d)
    assert said == "spillgate run 'a b.yaml' --set 'x.y='\"'\"'1 Mb/s'\"'\"'' --seed=9 --runs 2"
    assert command({"argv": ["pytest"], "scenario": "s.yaml"}, d) == (
        "spillgate run s.yaml --seed 9 --runs 2"
    )
    assert command({"argv": ["x"], "scenario": "s.yaml", "set": ["a.b=1 s"]}, d) == (
        "spillgate run s.yaml --set 'a.b=1 s' --seed 9 --runs 2"
    )


def test_only_reports_are_replaced(results, tmp_path):
    target = tmp_path / "mine.html"
    target.write_text("<p>mine</p>")
    with pytest.raises(OutputError, match="no report"):
        report.write(results, target)
    assert target.read_text() == "<p>mine</p>"
    report.write(results, target, force=True)
    report.write(results, target)
    with pytest.raises(OutputError, match="is a directory"):
        report.write(results, tmp_path)
    with pytest.raises(OutputError, match="cannot write"):
        report.write(results, tmp_path / "none/x.html")
    assert [p.name for p in tmp_path.iterdir()] == ["mine.html"]


def test_the_command_line_makes_the_same_report_again(cli, first, tmp_path):
    done = cli(
        "run",
        first,
        "--runs",
        2,
        "--set",
        "measurement.duration=1 s",
        "--out",
        "o",
        "--no-figures",
    )
    assert done.returncode in (0, 1, 3), done.stderr
    assert re.search(r"Report\s+in o/report.html", done.stdout)
    made = (tmp_path / "o/report.html").read_bytes()
    again = cli("report", "o", "-o", "again.html")
    assert (again.returncode, again.stdout) == (0, "again.html\n")
    assert (tmp_path / "again.html").read_bytes() == made
    assert b"--set &#39;measurement.duration=1 s&#39;" in made
    assert cli("report", "o").stdout == "o/report.html\n"
    part = cli("report", "o", "--where", "variant=llq", "-o", "part.html")
    assert (part.returncode, part.stdout) == (0, "part.html\n")
    text = (tmp_path / "part.html").read_text(encoding="utf-8")
    assert "variant=llq" in text
    assert "fifo" in made.decode()
    assert "fifo" not in text
    wrong = cli("report", "o", "--where", "variant=lq", "-o", "wrong.html")
    assert wrong.returncode == 2
    assert "llq" in wrong.stderr
    assert not (tmp_path / "wrong.html").exists()


def test_the_command_of_the_report_gives_the_same_again(cli, first, tmp_path, manifest):
    options = ["--correction=holm", "--against", "llq", "--series", "all", "--strict"]
    more = ["--runs", 2, "--set", "measurement.duration=1 s", "--no-figures"]
    done = cli("run", first, *options, *more, "--out", "o")
    assert done.returncode in (0, 1, 3), done.stderr
    made = spillgate.load(tmp_path / "o").description
    words = shlex.split(command(manifest(tmp_path / "o"), made))
    # The scenario is in the directory.
    again = cli(*words[1:2], f"o/{words[2]}", *words[3:], "--no-figures", "--out", "p")
    assert again.returncode == done.returncode
    a, b = (json.loads((tmp_path / d / "results.json").read_text()) for d in "op")
    assert a == b
    curves = [(tmp_path / d / "series.parquet").read_bytes() for d in "op"]
    assert curves[0] == curves[1]
    assert "are of all runs of each variant" in (tmp_path / "o/report.html").read_text()


def test_a_report_can_be_left_out(cli, first, tmp_path):
    cli(
        "run",
        first,
        "--runs",
        1,
        "--set",
        "measurement.duration=1 s",
        "--out",
        "o",
        "--no-figures",
        "--no-report",
    )
    assert not (tmp_path / "o/report.html").exists()


@pytest.mark.parametrize("what", ["missing", "a file", "damaged"])
def test_what_is_no_run_directory_is_refused(what, cli, tmp_path):
    if what == "a file":
        (tmp_path / "run").write_text("x")
    if what == "damaged":
        (tmp_path / "run").mkdir()
        (tmp_path / "run/manifest.json").write_text("{}")
    done = cli("report", "run", "-o", "x.html")
    assert done.returncode == 2
    assert "run is no readable run directory" in done.stderr
    assert not (tmp_path / "x.html").exists()


@pytest.mark.parametrize("module", ["spillgate", "spillgate.cli.parser"])
def test_only_reports_pay_for_templates(module, cli):
    code = f"import sys, {module}; 1 / (not {{'jinja2', 'matplotlib'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], env=cli.environment, check=False)
    assert done.returncode == 0


def test_averages_of_red_are_drawn_with_their_queues(root):
    results = spillgate.run(root / "corpus/aqm.yaml", runs=1)
    managed = {
        (variant, place)
        for variant in results.description.variants
        for place, node in queues(results, variant).items()
        # CoDel looks at single packets and keeps no average.
        if node["aqm"] in ("red", "wred")
    }
    assert managed
    series = {(s.variant, s.where): s for s in results.series() if s.metric == "backlog_average"}
    assert set(series) == managed
    backlogs = {(s.variant, s.where): s for s in results.series() if s.metric == "backlog_packets"}
    for at, average in series.items():
        limit = queues(results, at[0])[at[1]]["limit_packets"]
        assert all(0.0 <= v <= limit for v in average.v)
        # An average of what arrivals find: never above the longest queue there can be, and not
        # the queue itself.
        assert average.v != backlogs[at].v
    page = Page(report.render(results))
    curves = [a for a in page.all("path") if "average s" in a.get("class", "")]
    assert curves
    assert {a["data-of"] + ", average" for a in curves} == {a["data-name"] for a in curves}
    assert "time-backlog_average" not in page.ids
