"""What the documentation says works, and what should be documented is."""

import importlib
import importlib.util
import re
import shlex
import sys

import pytest

import spillgate
from spillgate.cli.parser import build_parser

HEADINGS = [
    "Idea",
    "Equations",
    "Parameters",
    "Deviations",
    "Complexity",
    "Validation",
    "Sources",
]

# Where a kind is described, if not on the page of its own name.
OPEN_LOOP = dict.fromkeys(
    ["cbr", "poisson", "bernoulli", "backlogged", "on-off", "mmpp"], "sources"
)
TCP = dict.fromkeys(
    ["tahoe", "reno", "newreno", "cubic", "dctcp", "bbr", "prague"],
    "tcp",
)
PAGE = OPEN_LOOP | TCP


def pages(root):
    built = root / "docs/_build"
    found = [root / "README.md", *root.glob("examples/*/README.md"), *root.glob("docs/**/*.md")]
    return [p for p in found if built not in p.parents]


def snippets(root, language):
    pattern = re.compile(rf"^```{language}\n(.*?)^```", re.MULTILINE | re.DOTALL)
    for page in pages(root):
        for number, match in enumerate(pattern.finditer(page.read_text(encoding="utf-8")), 1):
            yield page.relative_to(root).as_posix(), number, match[1]


def test_python_snippets_run(root, tmp_path, monkeypatch, capsys):
    (tmp_path / "examples").symlink_to(root / "examples")
    monkeypatch.chdir(tmp_path)
    found = list(snippets(root, "python"))
    assert len(found) >= 6
    for page, number, text in found:
        try:
            exec(compile(text, f"{page}, snippet {number}", "exec"), {})
        except Exception as error:
            raise AssertionError(f"{page}, python snippet {number}: {error}") from error
    capsys.readouterr()


def tables(root, page):
    """The tables that a page shows, by the file names in their first lines."""
    text = (root / page).read_text(encoding="utf-8")
    pattern = re.compile(r"^```text\n(# ([\w-]+\.csv)\n.*?)^```", re.MULTILINE | re.DOTALL)
    return [(match[2], match[1]) for match in pattern.finditer(text)]


def test_whole_scenarios_are_valid(root, tmp_path):
    whole = [s for s in snippets(root, "yaml") if s[2].startswith("schema_version")]
    assert whole
    for page, number, text in whole:
        scenario = tmp_path / "scenario.yaml"
        scenario.write_text(text, encoding="utf-8")
        for name, table in tables(root, page):
            (tmp_path / name).write_text(table, encoding="utf-8")
        try:
            spillgate.check(scenario)
        except spillgate.InputError as error:
            raise AssertionError(f"{page}, yaml snippet {number}: {error}") from error


def test_commands_are_understood(root, capsys):
    lines = [
        (page, line[2:])
        for page, _, text in snippets(root, "console")
        for line in text.replace("\\\n", "").splitlines()
        if line.startswith("$ ")
    ]
    assert lines
    crates = re.findall(
        r'^name = "(.*)"$',
        "".join(p.read_text() for p in root.glob("*/*/Cargo.toml")),
        re.MULTILINE,
    )
    targets = re.findall(r"^([a-z-]+):.*## ", (root / "Makefile").read_text(), re.MULTILINE)
    for page, line in lines:
        program, *arguments = shlex.split(line)
        program = program.removeprefix(".venv/bin/")
        assert program in ("spillgate", "make", "cargo"), f"{page}: {line}"
        if program == "cargo":
            assert arguments[arguments.index("-p") + 1] in crates, f"{page}: {line}"
            continue
        if program == "make":
            assert set(arguments) <= set(targets), f"{page}: {line}"
            continue
        try:
            build_parser().parse_args(arguments)
        except SystemExit:
            raise AssertionError(f"{page}: {line}: {capsys.readouterr().err}") from None


def test_model_pages_have_the_same_headings(root):
    for page in (root / "docs/models").glob("*.md"):
        if page.stem != "index":
            text = page.read_text(encoding="utf-8")
            assert re.findall(r"^## (.*)$", text, re.MULTILINE) == HEADINGS, page.name


def test_each_model_has_a_figure_with_a_caption(root, figures):
    pages = [p for p in (root / "docs/models").glob("*.md") if p.stem != "index"]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        found = re.search(r"^!\[.+\]\((\.\./img/model-.*\.svg)\)\n\n\*.+\.\*$", text, re.MULTILINE)
        assert found, page.name
        assert found[1] == f"../img/model-{page.stem}.svg"
        assert (page.parent / found[1]).is_file(), found[1]
    assert {p.stem for p in pages} == set(figures.pages())


def test_figures_of_models_are_real(root, figures, tmp_path):
    figures.draw("codel", tmp_path)
    name = "model-codel.svg"
    assert (tmp_path / name).read_bytes() == (root / "docs/img" / name).read_bytes()


def test_figures_of_the_page_about_figures_are_real(refresh, root, tmp_path):
    drawn = {f"figures-{p.name}" for p in refresh.study_figures(tmp_path)}
    page = (root / refresh.FIGURES).read_text(encoding="utf-8")
    assert set(re.findall(r"img/(figures-[a-z]+\.png)", page)) == drawn
    assert all((root / "docs/img" / name).is_file() for name in drawn)


def test_equations_need_no_network(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "docs"))
    formulas = importlib.import_module("formulas")
    found = 0
    for page in root.glob("docs/**/*.md"):
        text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for match in re.finditer(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", text, re.DOTALL):
            math = formulas.mathml(match[1] or match[2], as_block=bool(match[1]))
            assert "<math" in math, match[0]
            assert "\\\\" not in math, match[0]
            found += 1
    assert found > 300


@pytest.mark.parametrize("family", ["disciplines", "aqm", "sources", "congestion-control"])
def test_every_kind_has_a_page(root, family):
    for entry in spillgate.catalog()[family]:
        page = PAGE.get(entry["kind"], entry["kind"])
        assert (root / f"docs/models/{page}.md").is_file(), f"{entry['kind']} has no page"


def test_promised_tests_exist(root):
    text = (root / "docs/guarantees.md").read_text(encoding="utf-8")
    promised = re.findall(r"`([\w/-]+\.(?:py|rs))(?:::(\w+))?`", text)
    assert promised
    for path, name in promised:
        assert (root / path).is_file(), path
        code = (root / path).read_text(encoding="utf-8")
        assert not name or re.search(rf"(?:def|fn) {name}\(", code), f"{path} has no {name}"


def test_files_that_models_name_exist(root):
    for page in pages(root):
        for path in re.findall(r"`((?:crates|examples|docs|python)/[\w/.-]+)`", page.read_text()):
            assert (root / path).exists(), f"{page.relative_to(root)} names {path}"


def test_links_between_pages_lead_somewhere(root):
    for page in pages(root):
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.relative_to(root)}: {target}"


def test_exit_statuses_agree(root):
    pattern = re.compile(r"^\| (\d+) \|", re.MULTILINE)
    errors = set(pattern.findall((root / "docs/reference/errors.md").read_text()))
    described = set(re.findall(r"^  (\d+)  ", build_parser().format_help(), re.MULTILINE))
    assert described
    assert described <= errors


def test_each_decision_has_a_status_and_stands_in_the_index(root):
    folder = root / "docs/adr"
    index = (folder / "index.md").read_text(encoding="utf-8")
    found = sorted(folder.glob("0*.md"))
    assert found
    for page in found:
        number = int(page.name[:4])
        title, empty, status, *_ = page.read_text(encoding="utf-8").splitlines()
        assert title.startswith(f"# {number}. "), page.name
        assert (empty, status[:12]) == ("", "**Status.** "), page.name
        assert f"- [{number}]({page.name}): " in index, page.name
    assert len(found) == len(re.findall(r"^- \[\d+\]\(", index, re.MULTILINE))


@pytest.fixture(scope="module")
def figures(root):
    spec = importlib.util.spec_from_file_location("figures", root / "docs/figures.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def refresh(root):
    """The script that puts real output into the documentation."""
    spec = importlib.util.spec_from_file_location("refresh", root / "docs/refresh.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_counts_of_claims_are_those_of_the_pages(root):
    spec = importlib.util.spec_from_file_location("searches", root / "docs/searches.py")
    searches = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(searches)
    shown = searches.INDEX.read_text(encoding="utf-8")
    assert shown == searches.index_page(), "pages have other verdicts: docs/refresh.py searches"
    for claims, base, best in searches.counts().values():
        assert 0 < base <= best <= claims


def test_shown_margins_and_loops_are_real(refresh, root, tmp_path):
    page = (root / refresh.FLUID).read_text(encoding="utf-8")
    assert page == refresh.fluid_page(tmp_path)


def test_shown_shares_of_bounds_are_real(refresh, root, tmp_path):
    shown = (root / refresh.NEARNESS).read_text(encoding="utf-8")
    assert shown == refresh.nearness_page(tmp_path), (
        "worst cases reach something else: make images"
    )


def test_answers_to_commands_are_real(refresh, root):
    for page in refresh.COMMANDS:
        shown = (root / page).read_text(encoding="utf-8")
        assert shown == refresh.commanded(page), "the program says something else: make images"


def test_the_shown_comparison_is_real(refresh, root, tmp_path):
    shown = (root / refresh.COMPARE).read_text(encoding="utf-8")
    assert shown == refresh.compare_page(tmp_path), "the program says something else: make images"


def test_what_scripts_of_examples_say_is_real(refresh, tmp_path):
    for number, page in enumerate(refresh.SCRIPTED):
        real = refresh.scripted(page, tmp_path / str(number))
        assert refresh.current(page) == real, "the script says something else now: make images"


def test_shown_explanations_are_real(refresh, tmp_path):
    for page in refresh.EXPLAINED:
        real = refresh.explained(page, tmp_path / "out")
        assert refresh.currents(page) == real, "the program says something else now: make images"


def test_the_verdict_of_the_front_page_is_real(refresh, root, tmp_path):
    shown = refresh.current("README.md")
    assert shown == refresh.brief("ce-node", tmp_path / "out"), "make images"
    assert len([line for line in shown.splitlines() if line]) == 8
    text = (root / "README.md").read_text(encoding="utf-8")
    compared = re.search(r"\| ns-3 \|.*?\n\n", text, re.DOTALL)[0]
    # Ten rows and the head.
    assert len(re.findall(r"^\| (?!---)", compared, re.MULTILINE)) == 11
    assert text.count("![") == 1


CE_NODE = "examples/ce-node/README.md"


@pytest.mark.parametrize(
    "page", [CE_NODE, "docs/tutorial.md", "docs/howto/tcp.md", "docs/howto/guarantee.md"]
)
def test_shown_output_is_real(refresh, page, tmp_path):
    shown = refresh.current(page)
    real = refresh.block(refresh.PLACES[page], tmp_path / "out")
    assert shown == real, "the program says something else now: make images"
