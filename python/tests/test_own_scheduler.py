"""Schedulers of one's own: the decisions of built-in ones, and what goes wrong."""

import re
import subprocess
import sys
import time
import traceback
from collections import deque
from pathlib import Path

import own_schedulers
import pytest
from bad_schedulers import MISTAKES
from own_line import scenario
from own_schedulers import Fifo

import spillgate
from spillgate import own
from spillgate.own import DROP, FULL, MARK, PASS

EXAMPLE = Path(__file__).parents[2] / "examples/own-scheduler"
TURNS = own.named([f"{EXAMPLE / 'turns.py'}:Turns"], "scheduler")["Turns"]
"""The class of the example, which is DRR."""


def failing(policy):
    """The same with a link that fails for a second."""
    failures = "  failures:\n    - {link: wan, at: 2 s, repair: 3 s}\npolicies:"
    return scenario(policy).replace("policies:", failures)


def both_ways(policy, back):
    """The same with a policy for the way back."""
    link = "\n    back: {from: b, to: a, rate: 10 Mb/s, delay: 10 ms, policy: R}"
    text = scenario(f"{policy}\n  R: {back}")
    return text.replace(", duplex: true}", "}" + link)


def digests(policy, scheduler=None, *, peak="20 Mb/s", ecn="off", **options):
    text = scenario(policy, ecn=ecn, peak=peak)
    return [run.digest for run in spillgate.run(text, scheduler=scheduler, **options).runs]


CLASSES = """
    class-based:
      classes:
        - {{name: first, match: {{dscp: ef}}, priority: {{limit: {first} packets}}}}
        - {{name: class-default, queue_limit: {others} packets}}
"""


@pytest.mark.parametrize(
    ("built_in", "cls", "settings"),
    [
        ("{fifo: {}}", own_schedulers.Fifo, "{}"),
        ("{fifo: {limit: 7 packets}}", own_schedulers.Fifo, "{limit: 7}"),
        ("{drr: {}}", TURNS, "{}"),
        ("{drr: {limit: 60 packets}}", TURNS, "{limit: 60}"),
        (
            "{drr: {limit: 25 packets, quantum: 500 B}}",
            TURNS,
            "{limit: 25, quantum: 500}",
        ),
        (
            CLASSES.format(first=64, others=64),
            own_schedulers.Priority,
            "{first: 64, others: 64}",
        ),
        (
            CLASSES.format(first=10, others=30),
            own_schedulers.Priority,
            "{first: 10, others: 30}",
        ),
    ],
)
@pytest.mark.parametrize("peak", ["20 Mb/s", "60 Mb/s"])
def test_a_class_decides_as_the_built_in_scheduler_packet_by_packet(built_in, cls, settings, peak):
    expected = digests(built_in, peak=peak)
    assert digests(f"{{mine: {settings}}}", {"mine": cls}, peak=peak) == expected
    # It does something.
    assert digests("{fifo: {limit: 9 packets}}", peak=peak) != expected


@pytest.mark.parametrize("engine", ["plain", "express"])
def test_both_engines_give_the_same_runs(engine):
    expected = digests("{drr: {limit: 60 packets}}")
    mine = digests("{mine: {limit: 60}}", {"mine": TURNS}, engine=engine)
    assert mine == expected


def test_a_shaper_sends_no_more_than_its_rate():
    # 8 Mb/s come to 4 Mb/s.
    load = "source: {cbr: {rate: 8 Mb/s, packet: 700 B}}"
    text = re.sub(r"source: .*", load, scenario("{mine: {rate: 500000}}"))
    results = spillgate.run(text, scheduler={"mine": own_schedulers.Shaper}, runs=1)
    sent = results.value(None, "link", "wan", "utilization").mean
    # But for a packet of 1500 B or two.
    assert sent == pytest.approx(0.4, abs=2 * 1500 * 8 / 8 / 10e6)


def test_axes_reach_its_settings():
    text = scenario("{mine: {limit: 10}}") + (
        "axes: [{name: limit, set: policies.Q.mine.limit, values: [5, 50]}]\n"
    )
    results = spillgate.run(text, scheduler={"mine": Fifo}, runs=1)
    lost = [
        results.value(v, "queue", "wan/mine", "drops_tail").mean for v in ("limit=5", "limit=50")
    ]
    assert lost[0] > lost[1] > 0
    alone = spillgate.run(
        scenario("mine"), scheduler={"mine": Fifo}, runs=1, set={"policies.Q.mine.limit": 5}
    )
    assert alone.runs[0].digest == results.runs[0].digest


def test_drops_are_counted_as_the_class_says():
    class Counted(Fifo):
        def enqueue(self, packet, queue):
            if packet.number % 50 == 9:
                return DROP
            if packet.number % 50 == 19 and self.waiting:
                queue.drop(self.waiting.popleft(), FULL)
            if packet.number % 50 == 29 and self.waiting:
                queue.drop(self.waiting.pop())
            return super().enqueue(packet, queue)

    results = spillgate.run(scenario("{mine: {limit: 1000}}"), scheduler={"mine": Counted}, runs=1)
    of = {
        m: results.value(None, "queue", "wan/mine", f"drops_{m}").mean
        for m in ("early", "tail", "pushed_out", "forced")
    }
    assert of["early"] > 0
    assert of["tail"] > 0
    assert of["pushed_out"] > 0
    assert of["forced"] == 0


def test_a_marked_packet_has_experienced_congestion():
    class Marks(Fifo):
        def dequeue(self, queue):
            packet = super().dequeue(queue)
            if packet is not None and packet.ecn and packet.number % 20 == 0:
                return packet, MARK
            return packet

    text = scenario("{mine: {limit: 1000}}", ecn="classic")
    results = spillgate.run(text, scheduler={"mine": Marks}, runs=1)
    assert results.value(None, "queue", "wan/mine", "marks_ce").mean > 0


def test_a_scheduler_is_told_of_a_failed_link():
    told = []

    class Told(Fifo):
        def on_flush(self, queue):
            told.append((queue.now, queue.packets, len(self.waiting)))
            self.waiting.clear()

    text = failing("{mine: {limit: 100}}")
    both = [spillgate.run(text, scheduler={"mine": c}, runs=1).runs[0] for c in (Told, Fifo)]
    expected = spillgate.run(failing("{fifo: {limit: 100 packets}}"), runs=1).runs[0]
    assert [run.digest for run in both] == [expected.digest] * 2
    [(at, packets, waited)] = told
    assert at <= 2
    assert packets == 0
    assert waited > 0


def test_random_numbers_are_those_of_the_run():
    class Draws(Fifo):
        def enqueue(self, packet, queue):
            return DROP if queue.random() < 0.01 else super().enqueue(packet, queue)

    first, second = (digests("{mine: {}}", {"mine": Draws}, seed=s) for s in (1, 2))
    assert first == digests("{mine: {}}", {"mine": Draws}, seed=1)
    assert first != second


def test_a_saved_run_is_read_without_the_class(tmp_path):
    results = spillgate.run(scenario("{mine: {}}"), scheduler={"mine": Fifo}, runs=1)
    results.save(tmp_path / "run")
    again = spillgate.load(tmp_path / "run")
    assert again.to_dict()["summary"] == results.to_dict()["summary"]


def test_runs_are_used_again_only_with_a_version(tmp_path):
    def stored(cls):
        kept = []
        spillgate.run(
            scenario("{mine: {}}"),
            scheduler={"mine": cls},
            store=tmp_path,
            progress=lambda p: kept.append(p.runs_kept),
        )
        return kept[-1]

    assert [stored(Fifo), stored(Fifo)] == [0, 2]
    unversioned = [type("Plain", (Fifo,), {"version": None}) for _ in range(2)]
    assert [stored(cls) for cls in unversioned] == [0, 0]


def fails(cls, policy="{mine: {}}", **options):
    with pytest.raises(spillgate.SchedulerError) as caught:
        spillgate.run(scenario(policy, **options), scheduler={"mine": cls}, runs=1)
    return caught.value


def test_an_exception_ends_the_run_with_its_traceback():
    class Broken(Fifo):
        def dequeue(self, queue):
            return {}["nothing"]

    error = fails(Broken)
    assert "dequeue of the scheduler `mine` at `wan`" in str(error)
    assert "raised KeyError: 'nothing'" in str(error)
    where = traceback.extract_tb(error.__cause__.__traceback__)[-1]
    assert where.line == 'return {}["nothing"]'


def test_a_hook_that_does_not_return_is_named_and_ended(monkeypatch):
    monkeypatch.setattr(own, "PATIENCE_S", 0.5)

    class Endless(Fifo):
        def dequeue(self, queue):
            while True:
                pass

    begun = time.monotonic()
    error = fails(Endless)
    assert "dequeue of the scheduler `mine` at `wan`" in str(error)
    assert "did not return within" in str(error)
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize(("cls", "wanted"), MISTAKES)
def test_what_goes_wrong_is_named_with_hook_and_port(cls, wanted):
    error = str(fails(cls))
    for text in ["the scheduler `mine` at `wan`", *wanted]:
        assert text in error


def test_a_packet_of_another_port_is_named():
    kept = deque()

    class Swaps(Fifo):
        def enqueue(self, packet, queue):
            kept.append(packet)
            return super().enqueue(packet, queue)

        def dequeue(self, queue):
            super().dequeue(queue)
            return kept.popleft()

    text = both_ways("{mine: {}}", "{mine: {}}")
    with pytest.raises(spillgate.SchedulerError) as caught:
        spillgate.run(text, scheduler={"mine": Swaps}, runs=1)
    assert "which came to another port" in str(caught.value)


def test_a_packet_is_not_sent_after_the_link_has_failed():
    class Keeps(Fifo):
        def on_flush(self, queue):
            pass

    with pytest.raises(spillgate.SchedulerError) as caught:
        spillgate.run(failing("{mine: {limit: 100}}"), scheduler={"mine": Keeps}, runs=1)
    assert "which was lost when the link failed" in str(caught.value)


def test_packets_are_dropped_while_hooks_run_that_may():
    class Late(Fifo):
        def dequeue(self, queue):
            return None if queue.now < 1 else super().dequeue(queue)

        def next_wake(self, queue):
            queue.drop(self.waiting[0])

    error = fails(Late)
    assert "next_wake of" in str(error)
    assert "packets are dropped in enqueue and dequeue, while they run" in str(error)


def test_a_length_that_is_wrong_shows():
    class Forgets(Fifo):
        def __len__(self):
            return len(self.waiting) + 1

    error = str(fails(Forgets))
    assert "__len__ of the scheduler `mine` at `wan`" in error


class NoDequeue:
    def enqueue(self, packet, queue):
        return PASS


@pytest.mark.parametrize(
    ("scheduler", "policy", "wanted"),
    [
        ({}, "{mine: {}}", ["mine", "--scheduler NAME=MODULE:CLASS"]),
        ({"drr": Fifo}, "{drr: {}}", ["`drr` is a scheduler of Spillgate"]),
        ({"a b": Fifo}, "{fifo: {}}", ["`a b` cannot name a scheduler"]),
        ({"mine": 3}, "mine", ["a scheduler is a class, not 3"]),
        ({"mine": own.Functions(1)}, "mine", ["a scheduler is a class, not Functions"]),
        ({"mine": NoDequeue}, "mine", ["NoDequeue", "has no `dequeue`"]),
        ({"mine": dict}, "mine", ["has no `enqueue` and no `dequeue`"]),
        ({"mine": Fifo}, "{mine: {size: 3}}", ["E0410", "unexpected keyword", "'size'"]),
        ({"mine": Fifo}, "{mine: 3}", ["a mapping"]),
        (
            {"mine": Fifo},
            "{class-based: {classes: [{name: class-default, policy: R}]}}\n  R: {mine: {}}",
            ["only class-based policies can be nested in a class"],
        ),
    ],
)
def test_what_cannot_be_a_scheduler_is_refused(scheduler, policy, wanted):
    with pytest.raises(spillgate.InputError) as caught:
        spillgate.run(scenario(policy), scheduler=scheduler)
    for text in wanted:
        assert text in str(caught.value)


def test_a_scheduler_that_no_policy_is_is_a_warning():
    found = spillgate.check(scenario("{fifo: {}}"), scheduler={"mine": Fifo})
    assert any("no policy is the scheduler `mine`" in w for w in found.warnings)


def test_an_aqm_and_a_scheduler_may_have_one_name():
    class Every:
        version = "1"

        def on_enqueue(self, packet, queue):
            return DROP if packet.number % 100 == 99 else None

    text = both_ways("{mine: {}}", "{fifo: {aqm: mine}}")
    run = spillgate.run(text, aqm={"mine": Every}, scheduler={"mine": Fifo}, runs=1)
    early = [run.value(None, "queue", q, "drops_early").mean for q in ("wan/mine", "back/fifo")]
    assert early[0] == 0
    assert early[1] > 0
    built_in = both_ways("{fifo: {}}", "{fifo: {aqm: mine}}")
    expected = spillgate.run(built_in, aqm={"mine": Every}, runs=1).runs[0].digest
    assert run.runs[0].digest == expected


def command(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "spillgate", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from collections import deque\n"
        "class Mine:\n"
        "    version = '1'\n"
        "    def __init__(self):\n"
        "        self.waiting = deque()\n"
        "    def enqueue(self, packet, queue):\n"
        "        self.waiting.append(packet)\n"
        "    def dequeue(self, queue):\n"
        "        return self.waiting.popleft()\n"
    )
    (tmp_path / "s.yaml").write_text(scenario("{mine: {}}"))
    return tmp_path


def test_the_command_line_takes_a_class(folder):
    run = ("run", "s.yaml", "--runs", "1", "--no-report", "--quiet")
    done = command(*run, "--scheduler", "mine=mine:Mine", "--out", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    [digest] = digests("{fifo: {limit: 1 GB}}", runs=1)
    assert spillgate.load(folder / "out").runs[0].digest == digest
    for text, wanted in (
        ("mine", "--scheduler: 'mine' is not NAME=MODULE:CLASS"),
        ("mine=libmine.so", "--scheduler: 'mine=libmine.so' is not NAME=MODULE:CLASS"),
        ("mine=mine:Yours", "--scheduler: mine=mine:Yours: mine has no class 'Yours'"),
    ):
        done = command(*run, "--scheduler", text, "--out", "x", cwd=folder)
        assert done.returncode == 2, done.stderr
        assert wanted in done.stderr
    text = (folder / "mine.py").read_text().replace("self.waiting.popleft()", "1 / 0")
    (folder / "mine.py").write_text(text)
    done = command(*run, "--scheduler", "mine=mine:Mine", "--out", "y", cwd=folder)
    assert done.returncode == 2
    assert "return 1 / 0" in done.stderr
    assert "dequeue of the scheduler `mine` at `wan` (mine:Mine, version 1)" in done.stderr


def test_check_and_sweep_take_a_class(folder):
    found = command("check", "s.yaml", cwd=folder)
    assert found.returncode == 2
    assert "or give one of your own: `--scheduler NAME=MODULE:CLASS`" in found.stderr
    found = command("check", "s.yaml", "--scheduler", "mine=mine:Mine", cwd=folder)
    assert found.returncode == 0, found.stderr
    shard = ("sweep", "s.yaml", "--shard", "1/2", "--store", "store", "--quiet")
    done = command(*shard, "--scheduler", "mine=mine:Mine", cwd=folder)
    assert done.returncode == 0, done.stderr
