"""The page of a study in a browser: choosing points, keys, both widths, dark, paper, no script."""

import re
import warnings
from itertools import pairwise
from urllib.parse import quote

import browser
import pytest
from test_report_browser import contrast

import spillgate
from spillgate import report
from spillgate.labels import words
from spillgate.report.study import Study

SCENARIO = """\
schema_version: 1
name: What decides the delay of voice
topology:
  nodes: [site, net]
  links:
    up: {from: site, to: net, rate: 10 Mb/s, delay: 5 ms, policy: FIFO}
policies:
  FIFO: {fifo: {limit: 50 packets}}
  LLQ:
    class-based:
      classes:
        - {name: voice, match: {dscp: ef}, priority: {rate: 1 Mb/s}}
        - {name: class-default, queue_limit: 50 packets}
traffic:
  - flow:
      {name: voice, dscp: ef, from: site, to: net, source: {cbr: {rate: 100 kb/s, packet: 200 B}}}
  - flow: {name: data, from: site, to: net, source: {poisson: {rate: 5 Mb/s, packet: 1500 B}}}
measurement: {warmup: 500 ms, duration: 1 s}
runs: {count: 2}
sla:
  - {class: voice, metric: owd_p99, max: 20 ms}
  - {class: data, metric: loss_ratio, max: 1 %}
variants:
  - {name: FIFO, set: {}}
  - {name: LLQ, set: {topology.links.up.policy: LLQ}}
"""
CROSSED = """\
axes:
  - {name: load, set: traffic.data.source.rate, values: [3 Mb/s, 6 Mb/s, 9 Mb/s, 11 Mb/s, 13 Mb/s]}
  - {name: limit, set: policies.FIFO.limit, values: [10 packets, 50 packets]}
"""
DRAWN = """\
axes:
  - {name: load, set: traffic.data.source.rate, from: 2 Mb/s, to: 12 Mb/s}
  - {name: size, set: traffic.data.source.packet, from: 200 B, to: 1500 B, scale: log}
study: {design: {latin-hypercube: {points: 100}}}
"""


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    program = browser.find()
    if program is None:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.warn("SKIPPED: no Chromium for the report (set CHROMIUM)", stacklevel=1)
        pytest.skip("there is no Chromium: install it or set CHROMIUM")
    opened = browser.Browser(program, tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def crossed():
    return spillgate.run(SCENARIO + CROSSED)


@pytest.fixture(scope="module")
def files(crossed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    drawn = spillgate.run(SCENARIO + DRAWN)
    return {
        "crossed": report.write(crossed, folder / "crossed.html"),
        "drawn": report.write(drawn, folder / "drawn.html"),
    }


@pytest.fixture
def page(chromium, files):
    chromium.open(files["crossed"])
    return chromium


def texts(page, selector):
    return page.run(f"[...document.querySelectorAll({selector!r})].map(e => e.innerText)")


def choose(page, control, value):
    """Changes a control above the charts, by its label."""
    page.run(
        f"(l => {{ const s = l.querySelector('select'); s.value = {value!r};"
        "s.dispatchEvent(new Event('change')); })"
        "([...document.querySelectorAll('label')]"
        f".find(l => l.firstChild.textContent.trim() === {control!r}))"
    )


@pytest.mark.parametrize("name", ["crossed", "drawn"])
@pytest.mark.parametrize(("width", "dark"), [(1400, False), (400, False), (400, True)])
def test_it_opens_without_errors_requests_or_scrolling_aside(chromium, files, name, width, dark):
    chromium.open(files[name], width=width, dark=dark)
    assert chromium.problems() == []
    assert chromium.requests() == [files[name].resolve().as_uri()]
    assert chromium.run("document.documentElement.scrollWidth") <= width
    # A study of a hundred points is a few screens, not one section for each point.
    assert chromium.run("document.documentElement.scrollHeight") < (
        6000 if width == 1400 else 11000
    )


def test_the_answer_comes_first(page, crossed):
    study = Study.of(crossed)
    passed = list(study.verdicts.values()).count("pass")
    box = page.run("document.querySelector('.headline').getBoundingClientRect().bottom")
    assert box < 900
    assert texts(page, ".headline")[0].startswith(f"{passed} of 20 points meet every requirement")


def test_every_control_has_a_name(page):
    nameless = page.run(
        "[...document.querySelectorAll('select, input, button, [tabindex=\"0\"]')]"
        ".filter(e => e.offsetParent && !(e.labels && e.labels.length) "
        "&& !e.textContent.trim() && !e.getAttribute('aria-label')).map(e => e.outerHTML)"
    )
    assert nameless == []


def test_a_point_is_chosen_by_the_pointer_and_named_by_the_address(page, crossed):
    name = crossed.description.points[7].name
    where = "document.querySelector('.map:not([hidden]) td[data-p=\"7\"]')"
    page.run(f"{where}.click()")
    assert name in texts(page, "#one h3")[0]
    fragment = page.run("decodeURIComponent(location.hash)")
    assert fragment == f"#point={name}"
    assert page.run(f"{where}.getAttribute('aria-selected')") == "true"
    assert page.run("document.querySelector('#every tr.now').dataset.i") == "7"
    assert page.problems() == []


def test_an_address_leads_to_its_point(chromium, files, crossed):
    name = crossed.description.points[13].name
    chromium.open(files["crossed"])
    chromium.run(f"location.hash = '#point=' + encodeURIComponent({name!r})")
    chromium.run("new Promise(done => setTimeout(done, 100))")
    assert name in texts(chromium, "#one h3")[0]
    # What names none changes nothing, and is no error.
    chromium.run("location.hash = '#point=%E0%A4%A'")
    chromium.run("new Promise(done => setTimeout(done, 100))")
    assert name in texts(chromium, "#one h3")[0]
    assert chromium.problems() == []


def test_an_address_with_a_point_opens_there(chromium, files, crossed):
    name = crossed.description.points[13].name
    chromium.events = []
    chromium.call("Page.navigate", url="about:blank")
    chromium.wait("Page.loadEventFired")
    chromium.events = []
    address = f"{files['crossed'].resolve().as_uri()}#point={quote(name)}"
    chromium.call("Page.navigate", url=address)
    chromium.wait("Page.loadEventFired")
    assert name in texts(chromium, "#one h3")[0]
    top = chromium.run("document.getElementById('chosen').getBoundingClientRect().top")
    assert abs(top) < 100
    assert chromium.problems() == []


def test_a_point_without_results_has_a_cell_and_no_numbers(chromium, tmp_path):
    results = spillgate.run(SCENARIO + CROSSED, runs=1)
    lacking = results.description.points[2].name
    results._parsed["verdicts"] = tuple(v for v in results.verdicts if v.variant != lacking)
    results._rows["class", None] = tuple(r for r in results.classes() if r.variant != lacking)
    chromium.open(report.write(results, tmp_path / "lacking.html"))
    cell = "document.querySelector('.map:not([hidden]) td[data-p=\"2\"]')"
    assert chromium.run(f"{cell}.getAttribute('aria-label')") == f"{lacking}: no verdict"
    chromium.run(f"{cell}.click()")
    assert lacking in texts(chromium, "#one h3")[0]
    choose(chromium, "Colors by", "verdict")
    assert chromium.problems() == []


def test_points_by_the_keyboard(page, crossed):
    names = [p.name for p in crossed.description.points]
    page.run("document.querySelector('.map:not([hidden]) td[data-p=\"0\"]').focus()")
    at = "+document.activeElement.dataset.p"
    assert page.run("document.activeElement.getAttribute('aria-label')").startswith(names[0])
    page.key("ArrowRight")
    assert page.run(at) == 1
    page.key("ArrowDown")
    assert page.run(at) == 3
    page.key("Enter", text="\r")
    assert names[3] in texts(page, "#one h3")[0]
    assert names[3] in page.run("document.getElementById('say').textContent")
    page.run("document.getElementById('after').focus()")
    page.key("Enter", text="\r")
    assert names[4] in texts(page, "#one h3")[0]


def test_everything_is_reached_by_tab_and_shows_it(page):
    seen = []
    for _ in range(300):
        page.key("Tab")
        at = page.run(
            "(e => e === document.body ? null : [e.tagName, e.id || e.className, "
            "getComputedStyle(e).outlineStyle])(document.activeElement)"
        )
        if at is None:
            break
        seen.append(at)
    names = [f"{tag}.{name.split(' ')[0]}" for tag, name, _ in seen]
    assert {"SELECT.map-of", "SELECT.point", "BUTTON.after", "BUTTON.sort"} <= set(names)
    # Of each table of cells one is in the order of tabs; arrows lead to the others.
    tables = page.run("document.querySelectorAll('.map:not([hidden]) table.cells').length")
    assert sum(name.startswith("TD.") for name in names) == tables
    assert names.count("DIV.panel") >= 2
    assert all(outline != "none" for _, _, outline in seen)


def rows(page, selector, first="innerText"):
    """The texts of a table's rows; `first` is how the name is read."""
    return page.run(
        f"[...document.querySelectorAll({selector!r})].map(r => [...r.cells].map((c, i) => "
        f"i ? c.innerText : c.{first}.trim()))"
    )


def test_details_are_those_of_the_results(page, crossed):
    study = Study.of(crossed)
    classes = crossed.description.classes
    for number in (0, 9, 19):
        point = crossed.description.points[number]
        page.run(
            f"(s => {{ s.value = '{number}'; s.dispatchEvent(new Event('change')); }})"
            "(document.getElementById('point'))"
        )
        found = rows(page, "#one .side tbody tr", "firstChild.textContent")
        shown = {name: texts for name, *texts in found}
        # Bounds and formulas have no intervals, and tables say more of them.
        for c in study.columns.shown:
            if c.metric in words("metrics"):
                wanted = [c.text(study.columns.rows[point.name, cls]) for cls in classes]
                assert shown[c.head] == wanted, (point.name, c.head)
        measured = [r.by[point.name].measured for r in study.requirements]
        assert [row[1] for row in rows(page, "#one > div:first-of-type tbody tr")] == measured


def test_maps_can_be_chosen(page, crossed):
    shown = "[...document.querySelectorAll('figure.map')].filter(f => f.offsetParent).length"
    assert page.run(shown) == 1
    choose(page, "Requirement", "2")
    assert page.run(shown) == 1
    (title,) = texts(page, "figure.map:not([hidden]) h3")
    assert title == "data: loss ≤ 1 %"
    shown = "[...document.querySelectorAll('figure.map:not([hidden]) td[data-p]')]"
    cells = page.run(f"{shown}.map(c => c.className)")
    of = next(r for r in Study.of(crossed).requirements if r.text == title)
    assert sorted(cells) == sorted(v.verdict for v in of.by.values())


def test_lines_are_drawn_of_crossed_axes_and_dots_of_drawn_ones(chromium, files, crossed):
    chromium.open(files["crossed"])
    options = "[...document.querySelectorAll('#choices option')]"
    delay = chromium.run(f"{options}.find(o => o.text === '99 % delay').value")
    choose(chromium, "Show", delay)
    name, d = chromium.run(
        "(p => [p.dataset.name, p.getAttribute('d')])"
        "(document.querySelector('#plots .plot path.line:not(.dots)'))"
    )
    points = [tuple(map(float, p.split(","))) for p in d.lstrip("M").split(" ")]
    selects = "document.querySelectorAll('#choices select')"
    cls = chromium.run(f"{selects}[1].selectedOptions[0].text")
    variant = name.split(",")[0]
    at = {"limit": "10 packets"}
    means = [
        crossed.value(variant, "class", cls, "owd_p99", at={"load": 1e6 * x, **at}).mean
        for x, _ in points
    ]
    assert len(means) == 5
    assert [y for _, y in points] == pytest.approx([1e3 * m for m in means], rel=1e-4)
    chromium.open(files["drawn"])
    assert (
        chromium.run("document.querySelectorAll('#plots .plot path.line:not(.dots)').length") == 0
    )
    assert {t.split(" over ")[1] for t in texts(chromium, "#plots h4")} == {"load", "size"}
    choose(chromium, "Colors by", "verdict")
    lines = "[...document.querySelectorAll('#plots .plot path.line')]"
    styles = chromium.run(f"{lines}.map(p => p.getAttribute('class'))")
    assert all(re.search(r" v[puf]", s) for s in styles)
    assert chromium.problems() == []


@pytest.mark.parametrize("name", ["crossed", "drawn"])
def test_every_choice_draws(chromium, files, name):
    chromium.open(files[name])
    counts = chromium.run(
        "(() => { const s = [...document.querySelectorAll('#choices select')]; const found = [];"
        "const set = (e, v) => { e.value = v; e.dispatchEvent(new Event('change')); };"
        "for (const k of s) for (const o of [...k.options]) { set(k, o.value);"
        " for (const p of [...s[4].options]) { set(s[4], p.value);"
        " found.push(document.querySelectorAll('#plots .panel').length); } }"
        "return found; })()"
    )
    assert len(counts) > 40
    assert max(counts) > 4
    assert chromium.problems() == []
    paths = "[...document.querySelectorAll('#plots [d]')].map(p => p.getAttribute('d'))"
    assert chromium.run(f"{paths}.filter(d => /NaN|Inf/.test(d)).length") == 0


def test_a_click_or_enter_on_a_chart_chooses_the_point(chromium, files):
    chromium.open(files["drawn"])
    before = texts(chromium, "#one h3")
    chromium.run("document.querySelector('#plots .panel').focus()")
    chromium.key("ArrowRight")
    chromium.key("Enter", text="\r")
    by_key = texts(chromium, "#one h3")
    assert by_key != before
    chromium.run("document.querySelector('#plots').scrollIntoView({block: 'center'})")
    dot = chromium.run(
        "(p => { const m = p.parentNode.getScreenCTM();"
        " const q = p.points[5]; return [m.a * q[0] + m.e, m.d * q[1] + m.f, q[2]]; })"
        "(document.querySelector('#plots .plot path.line.dots'))"
    )
    for kind, more in (("mousePressed", {"buttons": 1}), ("mouseReleased", {})):
        chromium.mouse(kind, dot[0], dot[1], button="left", clickCount=1, **more)
    assert chromium.run("document.getElementById('point').value") == str(dot[2])


def test_no_two_curves_of_a_chart_look_alike(chromium, files):
    chromium.open(files["drawn"])
    looks = chromium.run(
        "(() => { const g = document.querySelector('#plots g.data'); const look = (c) => {"
        " const e = document.createElementNS('http://www.w3.org/2000/svg', 'path');"
        " e.setAttribute('class', c); g.append(e); const s = getComputedStyle(e); const l ="
        " [s.stroke, s.strokeDasharray, s.strokeLinecap].join(); e.remove(); return l; };"
        " const found = []; for (let k = 0; k < 64; k++)"
        " found.push(look(`line s${k % 8}${k < 8 ? '' : ' t' + Math.floor(k / 8)}`));"
        " return found; })()"
    )
    assert len(set(looks)) == 64


def test_the_table_can_be_sorted(page, crossed):
    page.run("[...document.querySelectorAll('.sort')].find(b => b.textContent === 'load').click()")
    column = "[...document.querySelectorAll('#every tbody tr')].map(r => r.cells[1].innerText)"
    assert page.run(column) == [f"{v} Mb/s" for v in (3, 6, 9, 11, 13) for _ in range(4)]
    last = "[...document.querySelectorAll('.sort')].at(-1)"
    page.run(f"{last}.click()")
    page.run(f"{last}.click()")
    of = crossed.verdicts
    losses = {v.variant: v.mean for v in of if v.metric == "loss_ratio"}
    names = page.run("[...document.querySelectorAll('#every tbody tr')].map(r => +r.dataset.i)")
    found = [losses[crossed.description.points[i].name] for i in names]
    # As far as the digits of the table go.
    assert all(a >= b - 0.006 for a, b in pairwise(found))
    assert page.run(f"{last}.parentNode.getAttribute('aria-sort')") == "descending"


@pytest.mark.parametrize("dark", [False, True])
def test_cells_of_a_map_can_be_told_apart(chromium, files, dark):
    chromium.open(files["drawn"], dark=dark)
    found = chromium.run(
        "['pass', 'fail', 'undecided'].map(v => {"
        " const row = document.querySelector('.cells:not(.roomy) tr');"
        " const e = row.insertCell(); e.className = v; const s = getComputedStyle(e);"
        " const r = [s.backgroundColor, s.color]; e.remove(); return r; })"
    )
    # Marks on their grounds as text; grounds by lightness, which no color blindness takes away.
    assert all(contrast(*pair) >= 4.5 for pair in found), found
    grounds = [ground for ground, _ in found]
    assert all(contrast(a, b) > 1.5 for i, a in enumerate(grounds) for b in grounds[:i]), grounds


def test_paper_has_the_chosen_point_and_the_tables(chromium, files):
    chromium.open(files["crossed"], dark=True)
    data = chromium.pdf()
    pages = len(re.findall(rb"/Type\s*/Page\b(?!s)", data))
    assert 2 <= pages <= 12
    chromium.call("Emulation.setEmulatedMedia", media="print")
    shown = chromium.run(
        "['#one', '#every', '.map:not([hidden]) table', '.headline', '#plots .panel', '.controls']"
        ".map(s => document.querySelector(s).getBoundingClientRect().height > 0)"
    )
    assert shown == [True] * 5 + [False]


def test_without_its_script_the_answer_the_maps_and_the_table_are_there(chromium, files):
    chromium.open(files["crossed"], script=False)
    root = chromium.call("DOM.getDocument", depth=0)["root"]["nodeId"]

    def count(selector):
        nodes = chromium.call("DOM.querySelectorAll", nodeId=root, selector=selector)
        return len(nodes["nodeIds"])

    assert count("figure.map:not([hidden]) td[data-p]") == 3 * 20
    assert count("#every tbody tr") == 20
    # What needs the script is not offered.
    assert count("#along[hidden], #chosen[hidden]") == 2
    assert count("noscript") == 1
    chromium.call("Emulation.setScriptExecutionDisabled", value=False)


def test_hostile_names_run_nothing(chromium, tmp_path):
    evil = """</script><img src=x onerror=document.title='hacked'>"'&<!-- \\u202e"""
    quoted = evil.replace('"', '\\"')
    text = SCENARIO.replace("name: What decides the delay of voice", f'name: "{quoted}"')
    text = text.replace("{name: LLQ, set: {topology", f'{{name: "{quoted}", set: {{topology')
    axes = f"""\
axes:
  - name: "{quoted}"
    points:
      - {{name: "{quoted}", set: {{traffic.data.source.rate: 3 Mb/s}}}}
      - {{name: plain, set: {{traffic.data.source.rate: 9 Mb/s}}}}
"""
    results = spillgate.run(text + axes)
    assert evil.split("\\")[0] in results.description.axes[0].name
    chromium.open(report.write(results, tmp_path / "evil.html"))
    assert chromium.run("document.title").startswith("</script>")
    assert chromium.run("document.querySelectorAll('img').length") == 0
    assert len(chromium.requests()) == 1
    for i in range(4):
        chromium.run(f"document.querySelector('.map:not([hidden]) td[data-p=\"{i}\"]').click()")
        assert chromium.run("location.hash.length") > 10
    address = chromium.run("location.hash")
    chromium.run("location.hash = ''")
    chromium.run(f"location.hash = {address!r}")
    chromium.run("new Promise(done => setTimeout(done, 100))")
    assert chromium.run("document.getElementById('point').value") == "3"
    assert "\u202e" not in chromium.run("document.documentElement.outerHTML")
    assert chromium.problems() == []
