"""Papers as data: what `paper.yaml` says, and what is said of mistakes in it."""

import pytest
from made_up import World, around

from spillgate.errors import InputError
from spillgate_papers.declared import Declared, paper
from spillgate_papers.measured import View

TEXTS = """# A. Toy, A toy

About toys

## Claims

| id | says | paper | predicate | ours | suspected |
| --- | --- | --- | --- | --- | --- |
| T1 | a | | above | it | |

## Causes

| key | cause | setting | words |
| --- | --- | --- | --- |

## Silent

| key | choice | why | effect |
| --- | --- | --- | --- |
| limit | 40 | usual | |

## said

Lost are {loss@RED, 1 ms} of it, {twice}.
"""
FILE = """take: {scopes: [class]}
lists:
  delays: [1 ms, 5 ms]
points:
  ends: {for: delays, at: "RED, {delays}"}
axes:
  - name: policy
    points:
      - {for: {p: [FIFO, RED]}, name: "{p}", set: {topology.links.l.policy: "{p}"}}
  - {name: delay, set: [topology.links.l.delay], values: [1 ms, 2 ms, 5 ms]}
batches:
  - title: All
    axes: [policy, {delay: delays}]
    but: {policy: FIFO, delay: 5 ms}
    seconds: [1, 20]
    quick: [1, 4]
    times: 4
    varied: {runs: 3}
measures:
  loss: {class: data, metric: loss_ratio}
  more: {of: loss, less: {policy: FIFO}}
  share: {class: data, metric: got, over: {class: data, metric: sent}}
ours:
  how much: {value: 0.5, others: about, min: [1, 0], max: [1, 2], said: "{percent:g} %"}
cells:
  twice: {make: sum, of: ["loss@RED, 1 ms", "loss@RED, 5 ms"]}
claims:
  T1:
    - {trend: "loss@RED, 5 ms", less: "@RED, 1 ms", min: 0, text: more}
    - for: [policy]
      number: loss@{policy}, 1 ms
      over: {policy: FIFO}
      ours: how much
      text: "{policy} within {ours}"
    - {beside: "more@RED, 1 ms"}
    - {with: {d: 1 ms}, parts: [{number: "share@RED, {d}", max: 0.9, text: "{d}"}]}
    - {trend: {make: most, of: "loss@RED, {d}", for: {d: delays}}, less: 0.15, min: 0, text: most}
    - apart: ["loss@RED, 5 ms", "loss@RED, 1 ms"]
      text: apart
    - {either: [{trend: "loss@RED, 1 ms", min: 1}, {trend: "loss@RED, 5 ms", min: 0}], text: or}
    - {call: given, with: ["{here}"], for: {here: [a]}}
silent:
  limit: {at: ends, set: policies.RED.fifo.limit, values: [20 packets, 80 packets]}
causes:
  - {name: short, for: delays, at: "RED, {delays}", off: {delay: 1 ms}}
ledger: [ends]
tables:
  - file: losses
    title: Losses
    rows: {policy: policy, delay: delays}
    at: ["{policy}, {delay}", "{policy}, 1 ms"]
    columns: [loss, {for: {x: [a]}, "stated {x}": {stated: {policy: {FIFO: 1, RED: 2}}}}]
sections:
  - {title: All, said: [said], tables: [losses]}
"""


def made(tmp_path, text=FILE):
    (tmp_path / "paper.md").write_text(TEXTS, encoding="utf-8")
    (tmp_path / "paper.yaml").write_text(text, encoding="utf-8")
    return paper(tmp_path, given=lambda x: lambda view: (x, view))


WORLD = {
    f"{p}, {d}": (
        {
            ("class", "data", "loss_ratio"): around(loss, "1"),
            ("class", "data", "got"): around(8.0),
            ("class", "data", "sent"): around(10.0),
        },
        {},
    )
    for p, d, loss in (("FIFO", "1 ms", 0.08), ("RED", "1 ms", 0.1), ("RED", "5 ms", 0.2))
}
VIEW = View({k: (World(WORLD), k) for k in WORLD})


def test_points_are_products_of_axes(tmp_path):
    toy = made(tmp_path)
    [batch] = toy.batches
    assert list(batch.places) == ["FIFO, 1 ms", "RED, 1 ms", "RED, 5 ms"]
    assert batch.places["RED, 5 ms"].set == {
        "topology.links.l.policy": "RED",
        "topology.links.l.delay": "5 ms",
    }
    assert (batch.effort.duration, batch.effort.quick, batch.effort.times) == (20.0, (1, 4), 4)
    assert (batch.varied.runs, batch.varied.times) == (3, 1)
    assert toy.ledger == ("RED, 1 ms", "RED, 5 ms")
    [silent] = toy.silent
    assert [(p.label, p.set, p.places) for p in silent.points] == [
        (f"{n} packets", {"policies.RED.fifo.limit": f"{n} packets"}, toy.ledger) for n in (20, 80)
    ]
    [cause] = toy.causes
    assert cause.off == {"RED, 1 ms": "RED, 1 ms", "RED, 5 ms": "RED, 1 ms"}


def test_parts_bound_terms(tmp_path):
    *parts, own = made(tmp_path).claims[0].test(VIEW)
    said = [(p.text, p.kind, p.holds, round(p.quantity.mean, 6)) for p in parts]
    assert said == [
        ("more", "trend", True, 0.1),
        ("FIFO within 50 %", "number", True, 1.0),
        ("RED within 50 %", "number", True, 1.25),
        ("loss_ratio of data, RED, 1 ms − loss_ratio of data, FIFO, 1 ms", "beside", False, 0.02),
        ("1 ms", "number", True, 0.8),
        ("most", "trend", True, 0.05),
        ("apart: the difference", "trend", True, 0.1),
        ("or", "trend", True, 0.2),
    ]
    assert own == ("a", VIEW)
    # Our bound in parts of it: 0.25 of 1 to either side contains 1.25 ±1.6 %.
    bound = parts[2].bound
    assert (bound.name, bound.chosen) == ("how much", "50 %")
    assert list(bound.parts) == ["25 %", "37.5 %", "45 %", "50 %", "55 %", "75 %", "100 %"]
    assert [p.holds for p in bound.parts.values()] == [False] + [True] * 6


def test_tables_and_sentences_know_the_measures(tmp_path):
    made(tmp_path)
    toy = Declared(tmp_path, {})
    losses = toy.table(*toy.data["tables"])
    rows = losses.table(VIEW).rows
    # The second row's point is not run: the second way to call it is.
    assert [(r[0], r[1], round(r[2].mean, 6), r[3].mean) for r in rows] == [
        ("FIFO", "1 ms", 0.08, 1),
        ("", "5 ms", 0.08, 1),
        ("RED", "1 ms", 0.1, 2),
        ("", "5 ms", 0.2, 2),
    ]
    said = toy.said("said")(VIEW)
    assert said.startswith("Lost are 10.00 ±")
    assert said.endswith("% of it, 30.0 ±0.5 %.")


def test_a_sentence_with_what_is_not_measured_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"paper.yaml:54: nothing is called 'twice'; there are"):
        made(tmp_path, FILE.replace("  twice:", "  thrice:"))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("batches:", "batchs:", "the file has no key 'batchs'; there are batches"),
        ("    quick: [1, 4]", "    quik: [1, 4]", "a batch has no key 'quik'; there are quick"),
        ("    seconds: [1, 20]\n", "", "a batch lacks 'seconds'"),
        ("axes: [policy, {delay", "axes: [polcy, {delay",
         "there is no list and no axis 'polcy'; there are policy"),
        ("for: delays, at", "for: delay s, at",
         "there is no list and no axis 'delay s'; there are delays, delay"),
        ('"loss@RED, 5 ms", less', '"los@RED, 5 ms", less',
         "nothing is called 'los'; there are loss"),
        ('"loss@RED, 5 ms", less', '"loss@RED, 2 ms", less',
         "there is no point 'RED, 2 ms'; there are RED, 5 ms, RED, 1 ms"),
        ("less: {policy: FIFO}", "less: {policy: FIFI}",
         "there is no point 'FIFI, 1 ms'"),
        ("loss@{policy}, 1 ms", "loss@{polcy}, 1 ms", "nothing is called 'polcy'"),
        ("ours: how much", "ours: how mch", "nothing is called 'how mch'; there are how much"),
        ("{trend: \"loss@RED, 5 ms\", less", "{trent: \"loss@RED, 5 ms\", less",
         "a part of a claim has no key 'trent'; there are trend"),
        ("metric: loss_ratio", "metrik: loss_ratio",
         "a term has no key 'metrik'; there are metric"),
        ("class: data, metric: loss_ratio", "metric: loss_ratio",
         "a term has other keys; there are metric with one of class"),
        ("min: 0, text: more", "min: 0, min: 1, text: more", "'min' stands here twice"),
        ("take: {scopes", "take: {scops", "what is taken has no key 'scops'; there are scopes"),
        ("said: [said]", "said: [sad]", "nothing is called 'sad'; there are said"),
        ("columns: [loss,", "columns: [lost,", "nothing is called 'lost'; there are loss"),
        ("take: {scopes: [class]}", "take: {scopes: [class}", "did not find expected"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_line(old, new, said, tmp_path):
    # What is missing is missing of the batch; else it is where it stands.
    at = FILE.index(old.strip() if new else "title: All")
    line = FILE[:at].count("\n") + 1
    with pytest.raises(InputError) as told:
        made(tmp_path, FILE.replace(old, new, 1))
    assert f"paper.yaml:{line}: {said}" in str(told.value)
