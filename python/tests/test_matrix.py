"""The matrix of the page about validation: docs/matrix.py."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import spillgate

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def matrix():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "docs"))
        import matrix

        yield matrix
        sys.modules.pop("matrix")


def test_every_mechanism_has_a_row(matrix):
    text = matrix.matrix(matrix.PAGE.read_text(encoding="utf-8"))
    catalog = spillgate.catalog()
    for family, word in (("disciplines", "discipline"), ("aqm", "AQM")):
        for entry in catalog[family]:
            assert f"| `{entry['kind']}` | {word} |" in text
    assert "| `wf2q+` | scheduler of classes |" in text
    assert "| `rio` | AQM |  | 0 (`rio_tests.rs`)" in text


def test_a_new_kind_appears_with_empty_cells(matrix, monkeypatch):
    monkeypatch.setattr(matrix, "mechanisms", lambda: {"aqm": ["unheard-of"]})
    last = matrix.matrix("").splitlines()[-1]
    assert last == f"| `unheard-of` | AQM |{'  |' * len(matrix.COLUMNS)}"


def test_evidence_names_mechanisms_and_tests_that_there_are(matrix):
    known = matrix.mechanisms()
    page = matrix.PAGE.read_text(encoding="utf-8")
    for family, kinds in matrix.proofs().items():
        for kind, row in kinds.items():
            assert kind in known[family], (family, kind)
            assert set(row) <= set(matrix.COLUMNS), (family, kind)
            for entry in [e for entries in row.values() for e in entries]:
                left, right = entry.split(" | ")
                if "/" not in right:
                    assert matrix.of_table(left, right, page), entry
                    continue
                path, _, test = right.partition("::")
                text = (ROOT / path).read_text(encoding="utf-8")
                assert not test or f"fn {test}(" in text, entry


def test_the_largest_sure_deviation_is_told(matrix):
    page = (
        "<!-- x -->\n| case | | a | b | d | |\n| --- | | | | | |\n"
        "| q, 1 | queue | 12 packets | 10 packets | +2.0 ±0.5 | **differs** |\n"
        "|  | lost | 1 % | 1 % | +0.0 ±0.1 | agrees |\n"
        "| q-2 | queue | 90 packets | 10 packets | +80 ±1 | **differs** |\n<!-- end -->\n"
    )
    assert matrix.of_table("x", "q", page) == "15 % (queue), 1 of 2 values"
    assert matrix.of_table("x", "other", page) == ""
