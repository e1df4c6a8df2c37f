"""The HTML report in a browser: no errors, no requests, charts, keys, pointer, dark, paper."""

import re
import warnings

import browser
import pytest

import spillgate
from conftest import make_results, parts
from spillgate import report

SECONDS = 4.0
TICKS = "[...document.querySelectorAll('#time-cwnd g.xs text')].map(t => t.textContent)"


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
def results(root):
    # Both a queue that overflows and TCP, in four variants.
    return spillgate.run(
        root / "examples/tcp/scenario.yaml",
        runs=2,
        set={
            "measurement.duration": f"{SECONDS:g} s",
            "measurement.warmup": "1 s",
            "verdicts.looks": "once",
        },
    )


@pytest.fixture(scope="module")
def file(results, tmp_path_factory):
    return report.write(results, tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture
def page(chromium, file):
    chromium.open(file)
    return chromium


def focus(page, figure, panel=0):
    """Puts the focus on a chart, as Tab would."""
    page.run(f"document.querySelectorAll('#{figure} .panel')[{panel}].focus()")


def sent(event):
    """Whether it is a request to somewhere."""
    request = event.get("params", {}).get("request", {})
    return event.get("method") == "Network.requestWillBeSent" and "192.0.2.1" in request["url"]


def test_no_errors_and_no_requests(page, file):
    assert page.problems() == []
    assert page.requests() == [file.resolve().as_uri()]
    # Not by chance: the policy stops what a page could try.
    page.run("fetch('http://192.0.2.1/').catch(() => 0)")
    page.run("document.body.append(Object.assign(new Image(), {src: 'http://192.0.2.1/x.png'}))")
    page.run("new Promise(done => setTimeout(done, 100))")
    tried = {e["params"]["requestId"] for e in page.events if sent(e)}
    stopped = [
        e["params"]
        for e in page.events
        if e.get("method") == "Network.loadingFailed" and e["params"]["requestId"] in tried
    ]
    assert [p.get("blockedReason") for p in stopped] == ["csp"] * len(tried)
    assert sum("Content Security Policy" in p for p in page.problems()) >= 2


def test_charts_are_drawn(page, results):
    boxes = page.run(
        "[...document.querySelectorAll('path.line:not(.mark)[data-name]')].map(p => {"
        "const b = p.getBoundingClientRect(); return [p.dataset.name, b.width, b.height]})"
    )
    # Four variants in three classes: delay against goodput, and twice the distribution.
    assert page.run("document.querySelectorAll('#tradeoff path.line.mark').length") == 12
    assert len([b for b in boxes if b[0] in results.description.variants]) == 24
    assert len([b for b in boxes if b[0].startswith("download-")]) == 2 * 4 * 4
    flat = [b for b in boxes if not (b[1] > 20 or b[2] > 20)]
    assert flat == []
    # Nothing is drawn outside of its chart, and no text hangs out of it.
    assert page.run(
        "[...document.querySelectorAll('svg.plot')].every(s => {"
        "const o = s.getBoundingClientRect();"
        "return [...s.querySelectorAll('text')].every(t => {"
        "const b = t.getBoundingClientRect();"
        "return b.left >= o.left - 1 && b.right <= o.right + 1 && b.top >= o.top - 1 "
        "&& b.bottom <= o.bottom + 1})})"
    )


def test_texts_of_an_axis_do_not_overlap(page):
    overlaps = page.run(
        "[...document.querySelectorAll('g.xs, g.ys')].flatMap(g => {"
        "const b = [...g.querySelectorAll('text')].map(t => t.getBoundingClientRect());"
        "return b.slice(1).filter((r, i) => !(r.left >= b[i].right || r.right <= b[i].left"
        " || r.top >= b[i].bottom || r.bottom <= b[i].top)).map(r => r.left)})"
    )
    assert overlaps == []


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 800)])
def test_the_page_fits_the_window(chromium, file, width, height):
    chromium.open(file, width=width, height=height)
    assert chromium.run("document.documentElement.scrollWidth") <= width


def test_zoom_and_values_by_the_pointer(page):
    where = "#time-backlog_packets .panel"
    page.run(f"document.querySelector('{where}').scrollIntoView({{block: 'center'}})")
    box = page.run(
        f"(b => [b.left, b.top, b.width, b.height])(document.querySelector('{where} svg.view')"
        ".querySelector('.span').parentNode.parentNode.getBoundingClientRect())"
    )
    left, top, width, height = box
    y = top + height / 2
    page.mouse("mouseMoved", left + width / 2, y)
    tip = page.run(f"document.querySelector('{where} .tip').innerText")
    assert re.match(r"\d[\d.]* s\n", tip)
    assert "packets" in tip
    before = page.run(
        "[...document.querySelectorAll('#time-cwnd g.xs text')].map(t => t.textContent)"
    )
    page.mouse("mousePressed", left + width * 0.4, y, button="left", buttons=1, clickCount=1)
    page.mouse("mouseMoved", left + width * 0.6, y, button="left", buttons=1)
    page.mouse("mouseReleased", left + width * 0.6, y, button="left", clickCount=1)
    # Charts over time move together, those of delays stay.
    shown = page.run(
        "[...document.querySelectorAll('#time-cwnd .panel:first-child g.xs text')]"
        ".map(t => +t.textContent)"
    )
    assert shown != before
    assert all(0.3 * (SECONDS + 1) < t < 0.7 * (SECONDS + 1) for t in shown)
    assert len(shown) >= 3
    page.mouse("mousePressed", left + 9, y, button="left", buttons=1, clickCount=1)
    page.mouse("mouseReleased", left + 9, y, button="left", clickCount=1)
    page.mouse("mousePressed", left + 9, y, button="left", buttons=1, clickCount=2)
    page.mouse("mouseReleased", left + 9, y, button="left", clickCount=2)
    after = page.run(
        "[...document.querySelectorAll('#time-cwnd g.xs text')].map(t => t.textContent)"
    )
    assert after == before
    assert page.problems() == []


def test_everything_is_reached_by_tab_and_shows_it(page):
    seen = []
    for _ in range(400):
        page.key("Tab")
        at = page.run(
            "(e => e === document.body ? null : [e.tagName, e.className, "
            "getComputedStyle(e).outlineStyle])(document.activeElement)"
        )
        if at is None:
            break
        seen.append(at)
    names = [f"{tag}.{cls.split(' ')[0]}" for tag, cls, _ in seen]
    assert names[0] == "A.skip"
    panels = page.run("document.querySelectorAll('.panel').length")
    assert names.count("DIV.panel") == panels > 10
    assert names.count("BUTTON.key") == page.run("document.querySelectorAll('.key').length")
    assert {"SUMMARY.", "DIV.scroll", "A."} <= set(names)
    assert all(outline != "none" for _, _, outline in seen)


def test_charts_by_the_keyboard(page, results):
    focus(page, "time-throughput")
    page.key("ArrowRight")
    said = page.run("document.getElementById('say').textContent")
    assert re.fullmatch(r"[\d.]+ s(, \w+ [\d.]+ Mb/s){3}", said), said
    # What is said is what was measured.
    time, rate = re.match(r"([\d.]+) s, downloads ([\d.]+) Mb/s", said).groups()
    (series,) = [
        s for s in results.series() if (s.variant, s.where) == ("NewReno", "class downloads")
    ]
    nearest = min(zip(series.t, series.v, strict=True), key=lambda p: abs(p[0] - float(time)))
    # Four digits are shown.
    assert float(rate) == pytest.approx(nearest[1] / 1e6, rel=1e-3)
    page.key("+")
    zoomed = page.run("document.getElementById('say').textContent")
    low, high = map(float, re.match(r"([\d.]+) s to ([\d.]+) s", zoomed).groups())
    assert high - low == pytest.approx((SECONDS + 1) / 2, rel=0.01)
    page.key("0")
    assert "to 5 s" in page.run("document.getElementById('say').textContent")
    page.key("ArrowRight")
    page.key("Escape")
    assert page.run("[...document.querySelectorAll('.tip')].every(t => t.hidden)")


def test_delays_read_from_a_chart_are_those_of_the_results(page, results):
    focus(page, "later", 2)
    page.key("End")
    for _ in range(20):
        page.key("ArrowLeft")
    said = page.run("document.getElementById('say').textContent")
    delay, share = map(float, re.match(r"([\d.]+) ms, NewReno ([\d.e-]+) %", said).groups())
    (curve,) = [d for d in results.distributions() if (d.variant, d.cls) == ("NewReno", "voice")]
    within = [q for q, owd in zip(curve.q, curve.owd, strict=True) if 1e3 * owd <= delay]
    beyond = [q for q, owd in zip(curve.q, curve.owd, strict=True) if 1e3 * owd >= delay]
    assert 1 - min(beyond) - 1e-3 <= share / 100 <= 1 - max(within) + 1e-3


def test_a_curve_can_be_hidden(page):
    where = "#later .key"
    page.run(f"document.querySelector('{where}').focus()")
    page.key("Enter", text="\r")
    assert page.run(f"document.querySelector('{where}').getAttribute('aria-pressed')") == "false"
    hidden = page.run(
        "[...document.querySelectorAll('#later path.line[data-name=NewReno]')]"
        ".map(p => getComputedStyle(p).display)"
    )
    assert hidden == ["none"] * 3


def contrast(a, b):
    """WCAG 2.1 contrast of two colors as browsers write them."""

    def luminance(color):
        parts = [int(x) / 255 for x in re.findall(r"\d+", color)[:3]]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


COLORS = """(() => {
  const back = getComputedStyle(document.body).backgroundColor;
  const text = s => getComputedStyle(document.querySelector(s)).color;
  const probe = document.body.appendChild(document.createElement('i'));
  const lines = [0, 1, 2, 3, 4, 5, 6, 7].map(i => { probe.className = 's' + i;
    return getComputedStyle(probe).color; });
  const texts = ['body', '.sub', 'td.pass', 'td.fail', 'summary', 'caption'].map(text);
  return {back, texts, lines};
})()"""


@pytest.mark.parametrize("dark", [False, True])
def test_colors_can_be_read(chromium, file, dark):
    chromium.open(file, dark=dark)
    found = chromium.run(COLORS)
    assert (contrast(found["back"], "rgb(0, 0, 0)") < 2) == dark
    # WCAG 2.1: 4.5 for text (1.4.3), 3 for what charts are made of (1.4.11).
    assert min(contrast(found["back"], c) for c in found["texts"]) >= 4.5
    assert min(contrast(found["back"], c) for c in found["lines"]) >= 3
    # Colors alone do not tell curves apart: the dashes differ, too.
    dashes = chromium.run(
        "[0, 1, 2, 3, 4, 5, 6, 7].map(i => { const e = document.createElementNS("
        "'http://www.w3.org/2000/svg', 'path'); e.setAttribute('class', 'line s' + i);"
        "document.querySelector('svg.plot').append(e);"
        "return getComputedStyle(e).strokeDasharray; })"
    )
    assert len(set(dashes)) == 8


def test_the_theme_can_be_chosen(chromium, file):
    chromium.open(file, dark=True)
    back = "getComputedStyle(document.body).backgroundColor"
    label = "document.getElementById('theme').textContent"
    dark = chromium.run(back)
    names = []
    for _ in range(3):
        chromium.run("document.getElementById('theme').click()")
        names.append((chromium.run(label), chromium.run(back)))
    assert [n for n, _ in names] == ["Theme: light", "Theme: dark", "Theme: system"]
    assert names[0][1] == "rgb(255, 255, 255)"
    assert names[1][1] == names[2][1] == dark


def test_it_prints(chromium, file):
    chromium.open(file, dark=True)
    data = chromium.pdf()
    pages = len(re.findall(rb"/Type\s*/Page\b(?!s)", data))
    assert data.startswith(b"%PDF")
    assert 3 <= pages <= 20
    # In light colors, whatever the screen has.
    chromium.call("Emulation.setEmulatedMedia", media="print")
    assert (
        chromium.run("getComputedStyle(document.querySelector('h1')).color") == "rgb(27, 31, 36)"
    )
    hidden = chromium.run(
        "['#theme', 'nav', '.hint', 'summary', '.skip']"
        ".map(s => getComputedStyle(document.querySelector(s)).display)"
    )
    assert hidden == ["none"] * 5


def test_it_is_complete_without_its_script(chromium, file):
    chromium.open(file, script=False)
    picture = chromium.call("Page.captureScreenshot")["data"]
    assert len(picture) > 10_000
    root = chromium.call("DOM.getDocument", depth=0)["root"]["nodeId"]
    found = {}
    for selector in ("path.line", "button:enabled", "[hidden]"):
        nodes = chromium.call("DOM.querySelectorAll", nodeId=root, selector=selector)
        found[selector] = len(nodes["nodeIds"])
    assert found["path.line"] > 50
    # What needs the script is not offered.
    assert found["button:enabled"] == 1
    assert found["[hidden]"] >= 2
    chromium.call("Emulation.setScriptExecutionDisabled", value=False)


def test_hostile_names_run_nothing(chromium, tmp_path):
    evil = "</script><img src=x onerror=document.title='hacked'><script>document.title='hacked'//"
    data = parts()
    for rows in data.values():
        for row in rows:
            for key in ("variant", "class", "name", "where"):
                if row.get(key) in ("LLQ", "voice"):
                    row[key] = evil
    made = make_results(name=evil, variants=["FIFO", evil], classes=[evil, "data"])
    made._values.data.update(data)
    chromium.open(report.write(made, tmp_path / "evil.html"))
    title = chromium.run("document.title")
    assert title.startswith("</script>")
    # No picture, no request for one, and the page's own script still works.
    assert chromium.run("document.querySelectorAll('img, script:not(:last-of-type)').length") == 0
    assert len(chromium.requests()) == 1
    focus(chromium, "later")
    chromium.key("ArrowRight")
    assert chromium.problems() == []


def test_runs_can_be_chosen_and_worst_packets_are_drawn(chromium, root, tmp_path):
    found = spillgate.run(
        root / "examples/ce-node/scenario.yaml",
        runs=3,
        set={"measurement.duration": "4 s"},
        series="all",
    )
    directory = found.save(tmp_path / "run")
    told = [
        spillgate.explain(directory, worst=3, variant=v) for v in found.description.variants[:2]
    ]
    file = report.write(found, tmp_path / "report.html", worst=told)
    assert file.stat().st_size < 1_500_000
    chromium.open(file)
    assert chromium.problems() == []
    shown = "[...document.querySelectorAll('figure[data-runs]')].filter(f => f.offsetParent)"
    runs = f"[...new Set({shown}.map(f => f.dataset.runs))]"
    assert chromium.run(runs) == ["all runs"]
    bands = "[...document.querySelectorAll('#time-throughput path.band')]"
    assert chromium.run(f"{bands}.some(b => b.getBoundingClientRect().height > 3)")
    assert chromium.run("[...document.querySelectorAll('#runs option')].map(o => o.text)") == [
        "all runs",
        "run 0",
        "run 1",
        "run 2",
    ]
    chromium.run(
        "(s => {s.value = 'run 2'; s.dispatchEvent(new Event('change'))})"
        "(document.getElementById('runs'))"
    )
    assert chromium.run(runs) == ["run 2"]
    lines = f"{shown}.every(f => [...f.querySelectorAll('path.line')].length > 0)"
    assert chromium.run(lines)
    bars = (
        "[...document.querySelectorAll('#worst svg.bar rect')].map(r => +r.getAttribute('width'))"
    )
    widths = chromium.run(bars)
    assert len(widths) > 20
    assert all(0 <= w <= 200 for w in widths)
    assert chromium.problems() == []


def test_the_customer_edge_report_is_small(chromium, root, tmp_path):
    # Size depends on classes, variants and samples, not on how many packets are behind them.
    found = spillgate.run(
        root / "examples/ce-node/scenario.yaml",
        runs=2,
        set={
            "measurement.duration": "12 s",
            "measurement.interval": "200 ms",
            "verdicts.looks": "once",
        },
    )
    file = report.write(found, tmp_path / "report.html")
    assert file.stat().st_size < 1_500_000
    chromium.open(file)
    assert chromium.problems() == []
    # What an engineer must see without scrolling: whether voice survives, and where.
    row = chromium.run(
        "(r => [r.innerText, r.getBoundingClientRect().bottom < innerHeight])"
        "([...document.querySelectorAll('.matrix tr.class')]"
        ".find(r => r.innerText.startsWith('voice')))"
    )
    assert "fail" in row[0]
    assert row[1]
    names = "[...document.querySelectorAll('#time-backlog_packets .name')]"
    limits = chromium.run(f"{names}.map(t => t.textContent)")
    assert {"limit: 40", "limit: 64", "WRED max CRITICAL, NON-CRITICAL: 42"} <= set(limits)
    # On a telephone the requirement leaves room for what became of it, whole.
    chromium.open(file, width=390, height=800)
    cells = chromium.run(
        "[...document.querySelectorAll('.matrix tbody tr td:nth-child(2)')]"
        ".map(c => c.getBoundingClientRect().right)"
    )
    assert len(cells) > 10
    assert max(cells) <= 390
