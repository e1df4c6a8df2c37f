"""Words for people stand in one place: the core's tables."""

import spillgate
from spillgate.labels import label_of, mark_of, needing, reason_of, short_of, words, worst


def test_nothing_else_spells_the_labels(root):
    entries = [e for f in ("metrics", "series", "drops") for e in spillgate.catalog()[f]]
    labels = {e["label"] for e in entries if " " in e["label"]}
    assert len(labels) > 70
    tables = ("crates/measure/src/catalog.rs", "crates/core/src/verdict.rs")
    told = [
        (path.relative_to(root).as_posix(), label)
        for folder, ending in (("python/spillgate", "py"), ("crates", "rs"))
        for path in (root / folder).rglob(f"*.{ending}")
        for label in labels
        if f'"{label}"' in path.read_text(encoding="utf-8")
    ]
    assert [t for t in told if t[0] not in tables] == []
    assert {t[0] for t in told} == set(tables)


def test_every_metric_and_series_has_its_words():
    for metric in spillgate.metrics():
        assert label_of(metric.name) == metric.label != ""
        assert short_of(metric.name) == metric.short != ""
    drops = {e["name"] for e in spillgate.catalog()["drops"]}
    assert drops == {m.name for m in spillgate.metrics() if m.name.startswith("drops_")}
    assert reason_of("drops_tail") == "the queue was full"
    assert label_of("cwnd") == "congestion window"


def test_what_only_a_newer_version_knows_keeps_its_name():
    assert label_of("new_metric") == short_of("new_metric") == "new metric"
    assert reason_of("drops_new") == "drops_new"


def test_a_verdict_is_a_symbol_and_its_word():
    names = [e["name"] for e in spillgate.catalog()["verdicts"]]
    assert names == ["pass", "fail", "undecided"]
    assert [mark_of(v) for v in names] == ["✓ pass", "✗ fail", "? undecided"]
    assert [words("verdicts")[v]["status"] for v in names] == [0, 1, 3]


def test_any_failure_decides_and_then_any_doubt():
    assert worst(["pass", "undecided", "fail"]) == "fail"
    assert worst(["undecided", "pass"]) == "undecided"
    assert worst([]) == ""


def test_a_difference_has_a_symbol_and_a_label():
    effects = words("effects")
    assert [e["mark"] for e in effects.values()] == ["✓", "✗", "▲", "▼", "?", ""]
    assert effects["not shown"]["label"] == "no difference shown"


def test_every_metric_of_something_needs_it():
    needed = {m.needs for m in spillgate.metrics()}
    known = {"tcp", "speech", "admission", "gaps", "switch", "meter", "percentiles", None}
    assert needed == known
    assert all(name.startswith("backlog_") for name in needing("percentiles"))
    assert needing("tcp")[0] == "goodput"
    assert {"mos", "r_factor", "mouth_to_ear"} < set(needing("speech"))
    assert set(needing("admission")) == {
        m.name for m in spillgate.metrics() if m.name.startswith(("flows_", "waiting_"))
    }
