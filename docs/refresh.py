"""Puts the real output and figures of the examples into README and documentation.

`make images` calls it; a test compares the text with what the program says.
"""

import importlib.util
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

PLACES = {
    "examples/ce-node/README.md": "ce-node",
    "docs/tutorial.md": "first",
    "docs/howto/tcp.md": "tcp",
    "docs/howto/bufferbloat.md": "home-line",
    "docs/howto/dsl.md": "dsl",
    "docs/howto/pvc.md": "pvc",
    "docs/howto/mpls-vpn.md": "mpls-vpn",
    "docs/howto/diffserv.md": "diffserv",
    "docs/howto/fan.md": "fan-failure",
    "docs/howto/fan-access.md": "fan-access",
    "docs/howto/guarantee.md": "guarantee",
}
"""Which example's output stands where, between `<!-- output -->` and `<!-- end -->`."""

COMMANDS = {
    "docs/howto/guarantee.md": {
        "bound": ("bound", "examples/guarantee/scenario.yaml", "--variant", "as configured"),
    },
    "docs/howto/stress.md": {
        "stress": (
            *("stress", "examples/first/scenario.yaml", "--variant", "llq", "--port", "uplink"),
            *("--against", "voice.owd_p99", "--class", "voice", "--rate", "500 kb/s"),
            *("--burst", "40 kB", "--quiet"),
        ),
    },
    "docs/howto/best.md": {
        "best": (
            *("best", "examples/ce-node/scenario.yaml", "--smallest", "voice:owd_p99"),
            *("--within", "0.5 ms", "--set", "measurement.duration=5 s", "--quiet"),
        ),
    },
}
"""What is asked of the program where, between `<!-- output NAME -->` and `<!-- end -->`."""

COMPARE = "docs/howto/compare.md"
"""The page with a comparison of mechanisms, and a figure of it."""

BRIEF = {"README.md": "ce-node"}
"""Which example's verdict stands where, in brief."""

SCRIPTED = {
    "docs/howto/assured.md": ("assured", "achieved"),
    "docs/howto/l4s.md": ("l4s", "ratio"),
}
"""Which example's own script says what stands where, and its picture, copied to `docs/img`."""

MARKING = (
    *("--set", "policies.red.fifo.aqm.red.ecn=true"),
    *("--set", "traffic.download.tcp.ecn=classic"),
)
"""A queue that marks, and connections that understand it."""

ONE_EACH = ("--worst", "1", "--drops", "1")
RED_DOWNLOADS = ("--variant", "NewReno + RED", "--flow", "downloads")

VERDICTS = {
    "diffserv": 32,
    "dsl": 23,
    "fan-access": 30,
    "fan-failure": 30,
    "guarantee": 17,
    "home-line": 29,
    "mpls-vpn": 14,
    "pvc": 15,
}
"""How many lines of its verdicts are shown of an example, if not nine."""

EXPLAINED = {
    "docs/howto/late-packets.md": (
        (
            "ce-node",
            ("--runs", "1", "--set", "measurement.duration=10 s"),
            (
                ("--variant", "CBWFQ", "--flow", "voice-3", "--worst", "1"),
                ("--variant", "CBWFQ-LLQ-WRED", "--flow", "critical", *ONE_EACH),
            ),
        ),
        (
            "tcp",
            ("--runs", "1", "--set", "measurement.duration=10 s", *MARKING),
            (
                (*RED_DOWNLOADS, "--worst", "0", "--drops", "1"),
                (*RED_DOWNLOADS, "--acks", "--worst", "1", "--drops", "0"),
            ),
        ),
    )
}
"""Which examples are run how, and what is asked of each then: a block of output a question."""

IMAGES = {
    "ce-node": ("fig06-delay-realtime", "fig08-loss-realtime", "fig09-loss-data"),
    "tcp": ("tcp-queue", "tcp-windows"),
    "diffserv": ("diffserv-throughput",),
}
"""Which of an example's figures are copied to `docs/img`."""

PAPERS = {
    "docs/papers/mitroi.md": "mitroi",
    "docs/papers/domzal.md": "domzal",
    "docs/papers/shrivastav.md": "shrivastav",
    "docs/papers/chien.md": "chien",
    "docs/papers/zheng.md": "zheng",
}
"""Which paper's tables and sentences stand where, between `<!-- table NAME -->` or
`<!-- text NAME -->` and `<!-- end -->`."""

RIVALS = "modern"
"""The text and the table there that `rivals` replaces."""

ELSEWHERE = ("beside", "search", "waves", "sets", "pairs", "shares", RIVALS)
"""What stands there that `searches` (`searches.py`) and `rivals` replace."""

PICTURES = {
    "mitroi": (
        "fig06-delay-realtime",
        "fig07-delay-data",
        "fig08-loss-realtime",
        "fig09-loss-data",
        "fig10-delay-variation",
        "m4-fifo-limit",
        "m12-levels",
        "load",
    ),
    "domzal": (
        "fig06-waits-by-flows",
        "fig07-efm",
        "fig08-raef",
        "fig09-rbaef",
        "d10-transfers",
        "waits-distribution",
        "openings",
    ),
    "shrivastav": (
        "fig02-queues-4",
        "fig03-loss-4",
        "fig04-queues-16",
        "fig05-loss-16",
        "frontier",
        "oscillation",
    ),
    "chien": (
        "fig02-thresholds",
        "fig04-assured",
        "fig05-total",
        "fig06-utilization",
        "fig07-delivered",
        "adaptation",
        "c7-trace",
    ),
    "zheng": (
        "fig04-throughput",
        "fig06-queue",
        "fig07-drops",
        "fig09-throughput",
        "fig11-queue",
        "fig12-drops",
        "start",
        "distribution",
    ),
}
"""Which of a paper's figures are copied to `docs/img`, with the paper's name before theirs."""

_TABLE = re.compile(r"(<!-- table (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)

REPORT = "ce-node"
"""The example whose report is shown, in `docs/img/report.png`."""

_BLOCK = re.compile(r"(?<=<!-- output -->\n```text\n).*?(?=```\n<!-- end -->)", re.DOTALL)


def output(example, out):
    """What `spillgate run` says of an example whose results go to `out`."""
    folder = ROOT / "examples" / example
    figures = folder / "figures.toml"
    chosen = ["--figures", str(figures)] if figures.exists() else ["--no-figures"]
    return said("run", folder / "scenario.yaml", "--all", "--out", out, *chosen)


def brief(example, out):
    """How many requirements each variant meets, and what that comes to."""
    scenario = ROOT / "examples" / example / "scenario.yaml"
    lines = said("run", scenario, "--no-report", "--out", out, lines=24).splitlines()
    start = next(i for i, line in enumerate(lines) if re.match(r"variant +pass +fail", line))
    end = next(i for i, line in enumerate(lines) if re.search(r" of \d+ requirements$", line))
    return (
        "\n".join([*lines[start : lines.index("", start) + 1], *lines[end - 1 : end + 1]]) + "\n"
    )


def said(*arguments, lines=40):
    """Standard output of the program."""
    done = subprocess.run(
        [sys.executable, "-m", "spillgate", *arguments],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "100", "LINES": str(lines), "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode not in (0, 1, 3):
        raise RuntimeError(done.stderr)
    return done.stdout


def scripted(page, out):
    """What the script of an example says of a run whose results go to `out`."""
    example, script = SCRIPTED[page]
    output(example, out)
    done = subprocess.run(
        [sys.executable, ROOT / f"examples/{example}/{script}.py", out],
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout


def excerpt(text, verdicts):
    """The tables, without what differs from machine to machine; some of the verdicts."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("delay: one-way"))
    head = next(i for i, line in enumerate(lines) if " requirement " in line)
    end = next(i for i, line in enumerate(lines) if re.search(r" of \d+ requirements$", line))
    tables = [x for x in lines[:start] if not re.match(r"seed \d+, |.* M events in ", x)]
    tcp = [i for i, line in enumerate(lines) if line.startswith("goodput: each byte")]
    if tcp:
        tables += lines[lines.index("", start) : tcp[0]]
        tables.append("")
    admission = [i for i, line in enumerate(lines) if line.startswith("flows: whose first")]
    if admission:
        # From the blank line after the legend of the table before.
        tables += lines[lines.index("", tcp[0] if tcp else start) + 1 : admission[0]]
        tables.append("")
    shown = lines[head : min(head + 1 + verdicts, end)]
    more = ["[...]"] if head + 1 + verdicts < end else []
    return "\n".join([*tables, *shown, *more, lines[end]]) + "\n"


def block(example, out):
    """The text that stands in the documentation for an example."""
    return excerpt(output(example, out), VERDICTS.get(example, 9))


def explained(page, out):
    """The texts that stand in a page about single packets."""
    texts = []
    for example, options, questions in EXPLAINED[page]:
        scenario = ROOT / "examples" / example / "scenario.yaml"
        where = out / example
        said("run", scenario, *options, "--no-figures", "--out", where)
        texts += [said("explain", where, *question) for question in questions]
    return texts


def currents(page):
    """The texts that stand in a page now."""
    return _BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))


def current(page):
    """The text that stands there now."""
    return _BLOCK.search((ROOT / page).read_text(encoding="utf-8"))[0]


_TEXT = re.compile(r"(<!-- text (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def reproduction(paper, where):
    """The tables and the texts of a paper by name, as Markdown; its pictures go to `where`."""
    from spillgate_papers import page

    found = import_module(f"spillgate_papers.{paper}").PAPER.reproduce(where / "system")
    tables, texts = {}, {}
    for section in page.sections(found):
        texts[section.name] = f"{section.text}\n"
        for table in section.tables:
            tables[table.file] = "\n".join(page.table_lines(table)[2:]) + "\n"
        for picture in section.pictures:
            if picture.file in PICTURES[paper]:
                picture.draw(where / picture.file)
    return tables, texts


def refresh_papers(where, wanted=()):
    """Runs papers, all if none is named, which takes minutes; replaces tables and pictures."""
    for page, paper in PAPERS.items():
        if wanted and paper not in wanted:
            continue
        out = where / paper
        tables, texts = reproduction(paper, out)
        path = ROOT / page
        text = _TABLE.sub(
            lambda m, tables=tables: m[0] if m[2] in ELSEWHERE else f"{m[1]}{tables[m[2]]}{m[3]}",
            path.read_text(encoding="utf-8"),
        )
        text = _TEXT.sub(
            lambda m, texts=texts: m[0] if m[2] in ELSEWHERE else f"{m[1]}{texts[m[2]]}{m[3]}",
            text,
        )
        path.write_text(text, encoding="utf-8")
        for name in PICTURES[paper]:
            shutil.copyfile(out / f"{name}.png", ROOT / f"docs/img/{paper}-{name}.png")


def refresh_rivals(where, wanted=()):
    """Runs mechanisms of today beside those of papers, all if none is named: minutes."""
    sys.path.insert(0, str(ROOT / "docs"))
    import searches

    from spillgate_papers import page

    for path, paper in PAPERS.items():
        if wanted and paper not in wanted:
            continue
        made = import_module(f"spillgate_papers.{paper}").PAPER.rivals(where / paper)
        table = "\n".join(page.table_lines(made.tables[0])[2:]) + "\n"
        blocks = {("text", RIVALS): f"{made.text}\n", ("table", RIVALS): table}
        text = searches.replaced((ROOT / path).read_text(encoding="utf-8"), blocks)
        (ROOT / path).write_text(text, encoding="utf-8")


FLUID = "docs/howto/fluid.md"
"""The page about the fluid model, with its scenario, its table and its figure."""


def fluid_table():
    """Margins behind input queues: by the weight, the connections and the round trip."""
    from spillgate.analysis import fluid

    head = ("nu", "connections", "T (ms)", "output", "VOQs", "gain margin", "phase margin (°)")
    lines = [f"| {' | '.join(head)} |", "|" + " ---: |" * len(head)]
    red = fluid.Red(50, 450, 0.2, 0.001)
    base = [(nu, 20, 0.1) for nu in (0, 0.125, 0.5, 1, 2)]
    others = [(0.5, n, 0.1) for n in (10, 40)] + [(0.5, 20, t) for t in (0.05, 0.2)]
    for nu, flows, rtt in base + others:
        switch = fluid.Switch(ports=16, speedup=1.1, nu=nu)
        model = fluid.Model(flows, 1250, rtt, red, switch=switch)
        at, margins = model.operating_point(), model.margins()
        lines.append(
            f"| {nu:g} | {flows} | {rtt * 1e3:g} | {at.queue:.1f} | {at.input_queue:.1f} "
            f"| {margins.gain:.2f} | {margins.phase:.1f} |"
        )
    return "\n".join(lines) + "\n"


def fluid_scenarios():
    """The scenarios of the page: of one queue, and of a switch."""
    text = (ROOT / FLUID).read_text(encoding="utf-8")
    return re.findall(r"```yaml\n(schema_version.*?)```", text, re.DOTALL)


def fluid_output(directory):
    """What the command says of the page's first scenario."""
    path = Path(directory) / "scenario.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(fluid_scenarios()[0], encoding="utf-8")
    return said("fluid", path)


def fluid_overlay(axes, scenario, changes=None):
    """The model of a scenario over the simulated queue of its output, for ten seconds."""
    import numpy as np

    import spillgate
    from spillgate.analysis import fluid

    results = spillgate.run(scenario, runs=1, set=changes)
    queue = next(
        s for s in results.series() if (s.where, s.metric) == ("out/fifo", "backlog_packets")
    )
    [loop] = fluid.from_scenario(scenario, set=changes)
    cycle = loop.model.oscillation()
    first, length = 60.0, 10.0
    time, packets = np.array(queue.t) - first, np.array(queue.v)
    inside = (time >= 0) & (time <= length)
    time, packets = time[inside], packets[inside]
    axes.plot(time, packets, label="simulated", linewidth=0.9)
    if cycle.lasting:
        # The model knows no absolute time: it is laid where it fits best.
        way, period = cycle.trajectory, 1 / cycle.frequency
        begin = way.time[-1] - length - period
        laid = [
            np.interp(begin + shift + time, way.time, way.queue)
            for shift in np.arange(0, period, 0.01)
        ]
        best = min(laid, key=lambda model: float(np.sum((model - packets) ** 2)))
        axes.plot(time, best, label="fluid model")
    else:
        axes.plot((0, length), (cycle.mean, cycle.mean), label="fluid model")
    axes.set_xlim(0, length)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("time (s)")


def fluid_figures(directory):
    """The queues of the page's scenarios with what the model says."""
    from matplotlib.figure import Figure

    from spillgate.plot.style import styled

    alone, switch = fluid_scenarios()
    nu = "topology.nodes.1.switch.congestion_measure.nu"
    with styled():
        figure = Figure(figsize=(7.2, 3.2))
        axes = figure.subplots()
        fluid_overlay(axes, alone)
        axes.set_ylabel("queue (packets)")
        axes.legend(loc="upper right")
        options = {"bbox_inches": "tight", "metadata": {"Software": None}}
        figure.savefig(directory / "fluid-queue.png", **options)
        figure = Figure(figsize=(7.2, 3.0))
        pair = figure.subplots(1, 2, sharey=True)
        for axes, weight in zip(pair, (0, 1), strict=True):
            fluid_overlay(axes, switch, {nu: weight})
            axes.set_title(f"nu = {weight}")
        pair[0].set_ylabel("output's queue (packets)")
        pair[1].legend(loc="upper right")
        figure.savefig(directory / "fluid-switch.png", **options)


def fluid_page(directory):
    """The page with its real table and output."""
    text = (ROOT / FLUID).read_text(encoding="utf-8")
    text = _TABLE.sub(lambda m: f"{m[1]}{fluid_table()}{m[3]}", text)
    return placed(text, "fluid", fluid_output(directory))


def placed(text, name, output):
    """A page with this output where it belongs."""
    return re.sub(
        rf"(<!-- output {name} -->\n).*?(<!-- end -->)",
        lambda m: f"{m[1]}```text\n{output.rstrip()}\n```\n{m[2]}",
        text,
        flags=re.DOTALL,
    )


def commanded(page):
    """A page with what the program says to its commands."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for name, arguments in COMMANDS[page].items():
        text = placed(text, name, said(*arguments))
    return text


def compare_page(directory):
    """The page with what its first command says; the run directory is made in `directory`."""
    text = (ROOT / COMPARE).read_text(encoding="utf-8")
    command = re.search(r"^\$ spillgate (compare .*)$", text, re.MULTILINE)[1]
    out = Path(directory) / "compared"
    shown = said(*shlex.split(command), "--out", str(out))
    return placed(text, "compare", shown.replace(str(out), "runs/home-line"))


def refresh_compare():
    """Replaces the output and the figure of the page about comparisons."""
    with tempfile.TemporaryDirectory() as directory:
        (ROOT / COMPARE).write_text(compare_page(directory), encoding="utf-8")
        drawn = Path(directory) / "compared/figures/queues.png"
        shutil.copyfile(drawn, ROOT / "docs/img/compare-queues.png")


def refresh_fluid():
    """Replaces the table, the output and the figures of the page about the fluid model."""
    with tempfile.TemporaryDirectory() as directory:
        text = fluid_page(directory)
    (ROOT / FLUID).write_text(text, encoding="utf-8")
    fluid_figures(ROOT / "docs/img")


NEARNESS = "docs/howto/worst-case.md"
"""The page with the shares of bounds that worst cases reach."""


def nearness_page(directory):
    """The page with the real shares of its scenario."""
    text = (ROOT / NEARNESS).read_text(encoding="utf-8")
    path = Path(directory) / "scenario.yaml"
    [scenario] = re.findall(r"```yaml\n(schema_version.*?)```", text, re.DOTALL)
    path.write_text(scenario, encoding="utf-8")
    rows = [
        "| discipline, queue | never above | reached | of the bound |",
        "| --- | --: | --: | --: |",
    ]
    for case in import_module("spillgate").worst(path):
        if case.share is not None:
            # Rounded down: 100 % is all of it.
            share = math.floor(case.share * 10000) / 100
            name = f"{case.point}, {case.queue}"
            delays = f"{case.bound * 1e3:.2f} ms | {case.reached * 1e3:.2f} ms"
            rows.append(f"| {name} | {delays} | {share:.2f} % |")
    table = "\n".join(rows) + "\n"
    return _TABLE.sub(lambda m: f"{m[1]}{table}{m[3]}", text)


def refresh_nearness():
    """Replaces the table."""
    with tempfile.TemporaryDirectory() as directory:
        text = nearness_page(directory)
    (ROOT / NEARNESS).write_text(text, encoding="utf-8")


CIOQ = "docs/howto/cioq.md"
"""The page about the speedup of a switch, with the answer of its example."""


def cioq_table():
    """What the example answers."""
    done = subprocess.run(
        [sys.executable, ROOT / "examples/cioq/answer.py"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout


def refresh_cioq():
    """Replaces the answer."""
    path = ROOT / CIOQ
    text = _TABLE.sub(lambda m: f"{m[1]}{cioq_table()}{m[3]}", path.read_text(encoding="utf-8"))
    path.write_text(text, encoding="utf-8")


SUITES = "docs/howto/suites.md"
"""The page about suites, with what is published beside them."""


def refresh_suites():
    """Replaces the table of what is published, which takes half a minute."""
    sys.path.insert(0, str(ROOT / "docs"))
    import agreement

    made = agreement.table()
    path = ROOT / SUITES
    text = _TABLE.sub(lambda m: f"{m[1]}{made}{m[3]}", path.read_text(encoding="utf-8"))
    path.write_text(text, encoding="utf-8")


TCP_OVER_ATM = "docs/howto/tcp-over-atm.md"
"""The page about TCP over ATM switches, with the answer of its example."""


def example_answer(name):
    """The module `answer` of an example."""
    path = ROOT / f"examples/{name}/answer.py"
    spec = importlib.util.spec_from_file_location(f"answer_{name.replace('-', '_')}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def refresh_tcp_over_atm():
    """Runs the example, which takes some minutes; replaces tables, sentences and the figure."""
    answer = example_answer("tcp-over-atm").answer(ROOT / "docs/img/tcp-over-atm.png")
    path = ROOT / TCP_OVER_ATM
    text = _TABLE.sub(lambda m: f"{m[1]}{answer[m[2]]}{m[3]}", path.read_text(encoding="utf-8"))
    text = _TEXT.sub(lambda m: f"{m[1]}{answer[m[2]]}{m[3]}", text)
    path.write_text(text, encoding="utf-8")


def picture(page, target, *, width=1280, height=800, ready="true", after=0.0):
    """What one sees of a page at first, if there is a browser.

    Args:
        page: A file, or an address.
        target: The picture.
        width: Of the window, in pixels.
        height: Likewise.
        ready: What is true in the page when there is something to see.
        after: Seconds to wait then.
    """
    sys.path.insert(0, str(ROOT / "python/tests"))
    import browser

    program = browser.find()
    if program is None:
        print(f"SKIPPED: {target}: there is no Chromium", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as profile:
        opened = browser.Browser(program, profile)
        opened.open(page, width=width, height=height)
        opened.until(ready)
        time.sleep(after)
        opened.screenshot(target, whole=False)
        opened.close()


def refresh_lab():
    """Replaces the picture of the lab, if it is built."""
    from spillgate import lab

    if not (lab.SITE / "index.html").is_file():
        print("SKIPPED: docs/img/lab.png: `make lab` has not built the lab", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as temporary:
        file = Path(temporary) / "lab.html"
        lab.save(file)
        address = f"{file.as_uri()}#/watch"
        moving = "document.querySelector('canvas') !== null"
        picture(address, ROOT / "docs/img/lab.png", height=860, ready=moving, after=14.0)


def refresh_notebook():
    """Replaces the picture of what a notebook shows."""
    import spillgate

    text = (ROOT / NOTEBOOK).read_text(encoding="utf-8")
    cell = re.search(r"```python\n(.*?)\n\w+\n```", text, re.DOTALL)[1]
    names = {"spillgate": spillgate}
    exec(cell, names)
    with tempfile.TemporaryDirectory() as temporary:
        file = Path(temporary) / "cell.html"
        shown = names["results"]._repr_html_()
        body = f"<!doctype html><meta charset=utf-8><body style='font-family:sans-serif'>{shown}"
        file.write_text(body, encoding="utf-8")
        picture(file, ROOT / "docs/img/notebook.png", width=900, height=860)


NOTEBOOK = "docs/howto/notebook.md"
"""The page about notebooks, whose first snippet is a cell."""


COMPARED = ("diffserv", "oc1", "ns2", "ns3", "linux")
"""The comparisons of `bench` that have a table on the page about validation."""


def refresh_bench(name):
    """Compares by `bench/NAME.py`, which takes a minute or two; replaces the table."""
    done = subprocess.run(
        [sys.executable, ROOT / f"bench/{name}.py"],
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    path = ROOT / "docs/validation.md"
    text = re.sub(
        rf"(<!-- {name} -->\n).*?(<!-- end -->)",
        lambda m: f"{m[1]}{done.stdout}{m[2]}",
        path.read_text(encoding="utf-8"),
        flags=re.DOTALL,
    )
    path.write_text(text, encoding="utf-8")


def refresh_figures(pages=()):
    """Draws the figures of pages about models, all if none is named."""
    sys.path.insert(0, str(ROOT / "docs"))
    import figures

    figures.refresh(pages)


def refresh_searches(arguments):
    """Searches what papers assumed, of all or those named, with runs in the folder after `--out`.

    Nothing else does: it takes minutes to an hour a paper where the folder has no runs.
    """
    sys.path.insert(0, str(ROOT / "docs"))
    import searches

    with tempfile.TemporaryDirectory() as temporary:
        if arguments[:1] == ["--out"]:
            searches.refresh(Path(arguments[1]), arguments[2:])
        else:
            searches.refresh(Path(temporary), arguments)


FIGURES = "docs/howto/figures.md"
"""The page about figures, with what a file of figures says of the study of `axes.md`."""


def study_figures(directory):
    """Draws the figures of the page into a directory."""
    import spillgate
    from spillgate import plot

    axes = (ROOT / "docs/howto/axes.md").read_text(encoding="utf-8")
    [scenario] = re.findall(r"```yaml\n(schema_version.*?)```", axes, re.DOTALL)
    page = (ROOT / FIGURES).read_text(encoding="utf-8")
    file = Path(directory) / "figures.toml"
    file.write_text("".join(re.findall(r"```toml\n(.*?)```", page, re.DOTALL)), encoding="utf-8")
    results = spillgate.run(scenario)
    drawn, problems = plot.save(results, Path(directory) / "figures", plot.read_specs(file))
    if problems:
        raise RuntimeError(problems)
    return drawn


def refresh_study():
    """Replaces the pictures of the page about figures."""
    with tempfile.TemporaryDirectory() as directory:
        for drawn in study_figures(directory):
            shutil.copyfile(drawn, ROOT / f"docs/img/figures-{drawn.name}")


def put(page, *texts):
    """Replaces the outputs of a page, one after another; the last as often as there are more."""
    path, last = ROOT / page, texts[-1]
    rest = iter(texts)
    text = _BLOCK.sub(lambda _: next(rest, last), path.read_text(encoding="utf-8"))
    path.write_text(text, encoding="utf-8")


def refresh_outputs():
    """Replaces what commands and examples print, and the pictures of their runs."""
    with tempfile.TemporaryDirectory() as temporary:
        for page, example in PLACES.items():
            out = Path(temporary) / example
            put(page, block(example, out))
            if example == REPORT:
                picture(out / "report.html", ROOT / "docs/img/report.png")
            for name in IMAGES.get(example, ()):
                shutil.copyfile(out / f"figures/{name}.png", ROOT / f"docs/img/{name}.png")
        for page, example in BRIEF.items():
            put(page, brief(example, Path(temporary) / "brief" / example))
        for page, (example, script) in SCRIPTED.items():
            out = Path(temporary) / "scripted" / example
            put(page, scripted(page, out))
            shutil.copyfile(out / f"{script}.png", ROOT / f"docs/img/{example}-{script}.png")
        for page in EXPLAINED:
            put(page, *explained(page, Path(temporary) / "explained" / page))
    for page in COMMANDS:
        (ROOT / page).write_text(commanded(page), encoding="utf-8")


def in_temporary(refreshed):
    """A function that gets a directory for what it needs meanwhile, before other arguments."""

    def call(*arguments):
        with tempfile.TemporaryDirectory() as temporary:
            refreshed(Path(temporary), *arguments)

    return call


ALL = {
    "outputs": refresh_outputs,
    "compare": refresh_compare,
    "study": refresh_study,
    "fluid": refresh_fluid,
    "nearness": refresh_nearness,
    "cioq": refresh_cioq,
    "suites": refresh_suites,
    "tcp-over-atm": refresh_tcp_over_atm,
    "lab": refresh_lab,
    "notebook": refresh_notebook,
}
"""What is refreshed when nothing is named, beside figures and papers, by name."""

NAMED = {
    "figures": refresh_figures,
    "papers": in_temporary(refresh_papers),
    "rivals": in_temporary(refresh_rivals),
    "searches": refresh_searches,
}
"""What may be followed by names of pages or papers, all of them if none is named. The last two are
refreshed only where they are named."""


def main():
    """Replaces texts and pictures: everything but what takes long, or what is named.

    Names are those of `ALL`, `NAMED` and `COMPARED`, and `validation` for all of `COMPARED`, whose
    other programs have to be installed.
    """
    name, *rest = sys.argv[1:] or [None]
    if name is None:
        for refreshed in (*ALL.values(), NAMED["papers"], NAMED["figures"]):
            refreshed()
    elif name in NAMED:
        NAMED[name](rest)
    elif name in ALL and not rest:
        ALL[name]()
    elif name in (*COMPARED, "validation") and not rest:
        for compared in COMPARED if name == "validation" else [name]:
            refresh_bench(compared)
    else:
        known = ", ".join((*ALL, *NAMED, *COMPARED, "validation"))
        sys.exit(f"error: {' '.join(sys.argv[1:])}: there are {known}")


if __name__ == "__main__":
    main()
