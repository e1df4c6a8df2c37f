import io

import pytest
from rich.console import Console

from conftest import described, make_results
from spillgate.cli import render
from spillgate.cli.progress import describe, duration
from spillgate.run import Progress


def shown(draw, width=100):
    out = io.StringIO()
    draw(Console(file=out, width=width, highlight=False, emoji=False))
    return out.getvalue()


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140])
def test_the_class_table_fits(width):
    text = shown(lambda out: render.class_table(out, make_results()), width)
    assert max(len(line) for line in text.splitlines()) <= width
    assert "…" not in text
    for word in ("FIFO", "LLQ", "voice", "data", "loss", "delay"):
        assert word in text


def test_a_wide_table_has_all_intervals():
    text = shown(lambda out: render.class_table(out, make_results()), 140)
    row = next(line for line in text.splitlines() if line.startswith("FIFO"))
    assert row.split() == [
        "FIFO",
        "voice",
        "15.00",
        "±0.15",
        "12.20",
        "±0.12",
        "18.70",
        "±0.19",
        "4.800",
        "±0.048",
        "6.10",
        "±0.06",
        "210.0",
        "±2.1",
        "4.900",
        "±0.049",
    ]


def test_verdicts_have_symbol_word_and_further_runs():
    text = shown(lambda out: render.verdict_table(out, make_results(("fail", "undecided"))))
    assert "✗ fail" in text
    assert "? undecided" in text
    assert "further runs" in text
    assert "12" in text
    assert "1 fail, 1 undecided of 2 requirements" in text
    assert "further runs" not in shown(lambda out: render.verdict_table(out, make_results()))


def test_notes_name_file_and_line():
    text = shown(lambda out: render.notes(out, described()))
    assert "! policies.cfg:5: the shares add up to 100 %" in text
    assert "policies.cfg:9: log (not modelled)" in text


def test_markup_in_names_is_text():
    text = shown(lambda out: render.notes(out, described(warnings=["[bold]x[/bold] :smile:"])))
    assert "[bold]x[/bold] :smile:" in text


def test_a_single_variant_needs_no_column():
    results = make_results()
    for part in ("summary", "verdicts"):
        records = results._values.data[part]
        records[:] = [r for r in records if r["variant"] == "FIFO"]
    for draw in (render.class_table, render.verdict_table):
        text = shown(lambda out, draw=draw: draw(out, results))
        assert "voice" in text
        assert "variant" not in text
        assert "FIFO" not in text


def test_markup_in_class_names_is_text():
    results = make_results()
    for record in results._values.data["summary"]:
        record["name"] = f"[bold]{record['name']}[/bold]"
    assert "[bold]voice[/bold]" in shown(lambda out: render.class_table(out, results))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (3599.9, "1 h 0 min")],
)
def test_lengths_of_time(seconds, text):
    assert duration(seconds) == text


def test_progress_estimates_the_rest():
    assert describe(Progress(0.25, 3, 50, 8_000_000, 2.0)) == (
        "3 of 50 runs, 4.0 M events/s, 6 s left"
    )
    assert describe(Progress(0.0, 0, 50, 0, 0.0)) == "0 of 50 runs, 0.0 M events/s"
