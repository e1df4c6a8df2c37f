"""AQMs of one's own: the decisions of built-in ones, and what goes wrong."""

import ctypes
import shutil
import subprocess
import sys
import time
import traceback
from pathlib import Path

import own_aqms
import pytest
from own_line import scenario as line

import spillgate
from spillgate import own
from spillgate.own import DROP, MARK, PASS


def digests(policy, aqm=None, *, ecn="off", **options):
    results = spillgate.run(line(policy, ecn=ecn), aqm=aqm, **options)
    return [run.digest for run in results.runs]


@pytest.mark.parametrize(
    ("kind", "cls", "ecn"),
    [
        ("red: {}", own_aqms.Red, "off"),
        ("red: {ecn: true}", own_aqms.Red, "classic"),
        ("red: {min_th: 2, max_th: 30, weight: 0.01}", own_aqms.Red, "off"),
        ("codel: {}", own_aqms.Codel, "off"),
        ("codel: {target: 1 ms, interval: 20 ms}", own_aqms.Codel, "off"),
        ("pie: {}", own_aqms.Pie, "off"),
        ("pie: {target: 5 ms, max_burst: 20 ms}", own_aqms.Pie, "off"),
    ],
)
@pytest.mark.parametrize("limit", ["1000 packets", "60 packets"])
def test_a_class_decides_as_the_built_in_aqm_packet_by_packet(kind, cls, ecn, limit):
    name, _, settings = kind.partition(": ")
    settings = settings.replace("1 ms", "0.001").replace("20 ms", "0.02").replace("5 ms", "0.005")
    whole = f"{{fifo: {{limit: {limit}, aqm: {{%s}}}}}}"
    built_in = digests(whole % kind, ecn=ecn)
    assert digests(whole % f"mine: {settings}", {"mine": cls}, ecn=ecn) == built_in
    # It does something.
    assert digests(f"{{fifo: {{limit: {limit}}}}}", ecn=ecn) != built_in
    assert name


class Every:
    """Drops every tenth packet of its queue."""

    def __init__(self, n=10):
        self.n, self.seen = n, 0

    def on_enqueue(self, packet, queue):
        self.seen += 1
        return DROP if self.seen % self.n == 0 else None


FAIR = "{drr: {limit: 100 packets, aqm: {every: {n: 10}}}}"


def test_each_queue_has_an_instance_and_axes_reach_its_settings():
    made = []

    class Counted(Every):
        def __init__(self, n=10):
            super().__init__(n)
            made.append(n)

    both = line(FAIR) + (
        "axes: [{name: every, set: policies.Q.drr.aqm.every.n, values: [10, 20]}]\n"
    )
    results = spillgate.run(both, aqm={"every": Counted}, runs=1)
    lost = {
        v: results.value(v, "queue", "wan/drr", "drops_early").mean
        for v in ("every=10", "every=20")
    }
    many, few = lost["every=10"], lost["every=20"]
    assert many > few > 0
    # One to see whether it takes its settings, and one for each of five flows.
    assert {n: made.count(n) for n in set(made)} == {10: 6, 20: 6}
    alone = spillgate.run(
        line(FAIR),
        aqm={"every": Every},
        runs=1,
        set={"policies.Q.drr.aqm.every.n": 20},
    )
    assert alone.runs[0].digest == results.runs[1].digest


def test_a_saved_run_is_read_without_the_class(tmp_path):
    results = spillgate.run(line(FAIR), aqm={"every": Every}, runs=1)
    results.save(tmp_path / "run")
    again = spillgate.load(tmp_path / "run")
    assert [r.digest for r in again.runs] == [r.digest for r in results.runs]
    assert again.to_dict()["summary"] == results.to_dict()["summary"]


def test_runs_are_used_again_only_with_a_version(tmp_path):
    scenario = line("{fifo: {aqm: mine}}")

    def stored(cls):
        kept = []
        spillgate.run(
            scenario,
            aqm={"mine": cls},
            runs=2,
            store=tmp_path,
            progress=lambda p: kept.append(p.runs_kept),
        )
        return kept[-1]

    class Versioned(Every):
        version = "1"

    class Later(Every):
        version = "2"

    Later.__qualname__ = Versioned.__qualname__
    assert [stored(Versioned), stored(Versioned), stored(Later)] == [0, 2, 0]
    unversioned = [type("Plain", (Every,), {}) for _ in range(2)]
    assert [stored(cls) for cls in unversioned] == [0, 0]


def fails(cls, policy="{fifo: {aqm: mine}}", **options):
    scenario = line(policy)
    with pytest.raises(spillgate.AqmError) as caught:
        spillgate.run(scenario, aqm={"mine": cls}, runs=1, **options)
    return caught.value


def test_an_exception_ends_the_run_with_its_traceback():
    class Broken:
        def on_dequeue(self, packet, queue):
            if packet.number == 100:
                return {}["nothing"]
            return PASS

    error = fails(Broken)
    assert "on_dequeue of" in str(error)
    assert "Broken" in str(error)
    assert "raised KeyError: 'nothing'" in str(error)
    assert isinstance(error.__cause__, KeyError)
    where = traceback.extract_tb(error.__cause__.__traceback__)[-1]
    assert where.line == 'return {}["nothing"]'


@pytest.mark.parametrize("answer", ["dorp", 3, True, 0.5])
def test_an_answer_that_is_none_is_named(answer):
    class Nonsense:
        def on_enqueue(self, packet, queue):
            return answer

    error = fails(Nonsense)
    assert f"returned {answer!r}" in str(error)
    assert '"pass" or None, "mark", "drop" or "forced"' in str(error)


def test_answers_may_be_put_together():
    class Text:
        def on_enqueue(self, packet, queue):
            return "".join(["dr", "op"]) if packet.number % 9 == 0 else PASS

    class Plain(Text):
        def on_enqueue(self, packet, queue):
            return DROP if packet.number % 9 == 0 else PASS

    assert digests("{fifo: {aqm: m}}", {"m": Text}) == digests("{fifo: {aqm: m}}", {"m": Plain})


def test_a_hook_that_does_not_return_is_named_and_ended(monkeypatch):
    monkeypatch.setattr(own, "PATIENCE_S", 0.5)

    class Endless:
        def on_enqueue(self, packet, queue):
            while True:
                pass

    begun = time.monotonic()
    error = fails(Endless)
    assert "on_enqueue of" in str(error)
    assert "did not return within" in str(error)
    assert time.monotonic() - begun < 10


def test_a_packet_that_is_kept_stays_what_it_was():
    kept = []

    class Keeper:
        def on_enqueue(self, packet, queue):
            kept.append((packet, packet.number, packet.arrived_ps))
            return PASS

    digests("{fifo: {aqm: keeper}}", {"keeper": Keeper}, runs=1)
    assert len(kept) > 1000
    assert all((p.number, p.arrived_ps) == (n, t) for p, n, t in kept)


def test_random_numbers_are_for_hooks_that_judge():
    class Late:
        def on_enqueue(self, packet, queue):
            return PASS

        def on_empty(self, queue):
            queue.random()

    assert "random numbers are for on_enqueue and on_dequeue" in str(fails(Late))


def test_a_mark_is_a_drop_where_nothing_can_be_marked():
    class Marks(Every):
        def on_enqueue(self, packet, queue):
            return MARK if super().on_enqueue(packet, queue) else PASS

    plain = [digests("{fifo: {aqm: m}}", {"m": c}) for c in (Every, Marks)]
    assert plain[0] == plain[1]
    ecn = [digests("{fifo: {aqm: m}}", {"m": c}, ecn="classic") for c in (Every, Marks)]
    assert ecn[0] != ecn[1]


@pytest.mark.parametrize(
    ("aqm", "policy", "wanted"),
    [
        ({}, "{fifo: {aqm: {mine: {}}}}", ["E0204", "mine", "--aqm"]),
        ({"red": Every}, "{fifo: {aqm: red}}", ["`red` is an AQM of Spillgate"]),
        ({"a b": Every}, "{fifo: {}}", ["`a b` cannot name an AQM"]),
        ({"mine": 3}, "{fifo: {aqm: mine}}", ["an AQM is a class"]),
        ({"mine": dict}, "{fifo: {aqm: mine}}", ["neither `on_enqueue` nor `on_dequeue`"]),
        ({"mine": Every}, "{fifo: {aqm: {mine: {m: 3}}}}", ["E0410", "unexpected keyword", "'m'"]),
        ({"mine": Every}, "{fifo: {aqm: {mine: 3}}}", ["a mapping"]),
        ({"mine": Every}, "{fq-codel: {aqm: mine}}", ["aqm"]),
    ],
)
def test_what_cannot_be_an_aqm_is_refused(aqm, policy, wanted):
    with pytest.raises(spillgate.InputError) as caught:
        spillgate.run(line(policy), aqm=aqm)
    for text in wanted:
        assert text in str(caught.value)


def test_an_aqm_that_no_queue_has_is_a_warning():
    found = spillgate.check(line("{fifo: {}}"), aqm={"mine": Every})
    assert any("no queue has the AQM `mine`" in w for w in found.warnings)


EXAMPLE = Path(__file__).parents[2] / "examples/own-aqm"


def of_example(aqm):
    simulation = spillgate.Simulation(EXAMPLE / "scenario.yaml", aqm={"ramp": aqm}, variant="own")
    return [run.digest for run in simulation.run(series=[]).runs]


@pytest.fixture(scope="module")
def ramp():
    """The class of the example."""
    return own.named([f"ramp={EXAMPLE / 'ramp.py'}:Ramp"])["ramp"]


def compiled(directory, source):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    (directory / "mine.c").write_text(source, encoding="utf-8")
    command = [compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    path = directory / "libmine.so"
    subprocess.run([*command, f"-I{own.INCLUDE}", "-o", path, directory / "mine.c"], check=True)
    return own.Library(path)


def test_c_gives_the_runs_of_python(ramp, tmp_path):
    source = (EXAMPLE / "ramp.c").read_text(encoding="utf-8")
    assert of_example(compiled(tmp_path, source)) == of_example(ramp)


def test_rust_gives_the_runs_of_python(ramp, root):
    cargo = shutil.which("cargo")
    if cargo is None:
        pytest.skip("there is no cargo")
    done = subprocess.run(
        [cargo, "run", "--quiet", "--locked", "--package=own-aqm"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    digests = [line.rpartition(" ")[2] for line in done.stdout.splitlines() if "run " in line]
    assert digests == of_example(ramp)
    assert "own, voice: owd_p95" in done.stdout


def test_addresses_of_functions_are_an_aqm(tmp_path):
    """Every tenth packet, counted in a state that begins with zeros."""
    answer = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)

    @answer
    def enqueue(state, packet, queue):
        seen = ctypes.cast(state, ctypes.POINTER(ctypes.c_uint64))
        seen[0] += 1
        return 2 if seen[0] % 10 == 0 else 0

    address = ctypes.cast(enqueue, ctypes.c_void_p).value
    functions = own.Functions(enqueue=address, state=8, version="1")
    policy = FAIR.replace("{n: 10}", "{}")
    assert digests(policy, {"every": functions}, jobs=1) == digests(policy, {"every": Every})


LIBRARY = """
#include "spillgate_aqm.h"
uint32_t spillgate_aqm_version(void) {{ return {version}; }}
void *spillgate_aqm_new(const char *s, const spillgate_queue *q)
{{ (void)s; (void)q; return {new}; }}
int32_t spillgate_aqm_enqueue(void *a, const spillgate_packet *p, const spillgate_queue *q)
{{ (void)a; (void)p; (void)q; return {answer}; }}
int32_t {dequeue}(void *a, const spillgate_packet *p, const spillgate_queue *q)
{{ (void)a; (void)p; (void)q; return 0; }}
void spillgate_aqm_free(void *a) {{ (void)a; }}
"""
FINE = {"version": 1, "new": "(void *)1", "answer": 0, "dequeue": "spillgate_aqm_dequeue"}


@pytest.mark.parametrize(
    ("changed", "error", "wanted"),
    [
        (
            {"version": 2},
            spillgate.InputError,
            "has version 2 of the interface, this Spillgate has 1",
        ),
        ({"dequeue": "other"}, spillgate.InputError, "no function `spillgate_aqm_dequeue`"),
        ({"new": "0"}, spillgate.InputError, "no AQM with these settings"),
        ({"answer": 7}, spillgate.AqmError, "returned 7"),
    ],
)
def test_a_library_that_is_none_is_named(tmp_path, changed, error, wanted):
    library = compiled(tmp_path, LIBRARY.format(**{**FINE, **changed}))
    with pytest.raises(error) as caught:
        digests("{fifo: {aqm: mine}}", {"mine": library})
    assert wanted in str(caught.value)


def test_what_is_no_library_is_named(tmp_path):
    (tmp_path / "text.so").write_text("no library")
    for path, wanted in (
        (tmp_path / "text.so", "cannot be loaded"),
        (tmp_path / "no.so", "No such"),
    ):
        with pytest.raises(spillgate.InputError) as caught:
            digests("{fifo: {aqm: mine}}", {"mine": own.Library(path)})
        assert wanted in str(caught.value)


def command(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "spillgate", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_line_takes_a_class(ramp, tmp_path):
    shutil.copy(EXAMPLE / "ramp.py", tmp_path)
    scenario = str(EXAMPLE / "scenario.yaml")
    run = (
        "run",
        scenario,
        "--runs",
        "1",
        "--no-report",
        "--quiet",
        "--set",
        "measurement.series=[]",
    )
    for text in ("ramp=ramp:Ramp", "ramp=ramp.py:Ramp"):
        done = command(*run, "--aqm", text, "--out", text.replace(":", "-"), cwd=tmp_path)
        assert done.returncode in (0, 3), done.stderr
    loaded = spillgate.load(tmp_path / "ramp=ramp-Ramp")
    assert loaded.runs[0].digest == of_example(ramp)[0]
    for text, wanted in (
        ("ramp", "neither NAME=MODULE:CLASS nor NAME=LIBRARY.so"),
        ("ramp=ramp:Rump", "has no class 'Rump'; classes there: Ramp"),
        ("ramp=rump:Ramp", "the module cannot be imported"),
        ("ramp=no.py:Ramp", "the module cannot be imported"),
    ):
        done = command(*run, "--aqm", text, "--out", "x", cwd=tmp_path)
        assert done.returncode == 2, done.stderr
        assert wanted in done.stderr
    (tmp_path / "broken.py").write_text(
        "class Broken:\n    def on_enqueue(self, packet, queue):\n        return 1 / 0\n"
    )
    done = command(
        *run,
        "--aqm",
        "ramp=broken:Broken",
        "--out",
        "y",
        "--set",
        "policies.QUEUE.fifo.aqm=ramp",
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert "return 1 / 0" in done.stderr
    assert "on_enqueue of the AQM `ramp` (broken:Broken" in done.stderr
    assert "raised ZeroDivisionError: division by zero" in done.stderr
    assert not (tmp_path / "y").exists()


def test_studies_of_several_processes_need_a_version(tmp_path):
    (tmp_path / "plain.py").write_text(
        "class Plain:\n    def on_enqueue(self, packet, queue):\n        return None\n"
    )
    (tmp_path / "s.yaml").write_text(line("{fifo: {aqm: plain}}"))
    shard = ("sweep", "s.yaml", "--shard", "1/2", "--store", "store", "--quiet", "--aqm")
    done = command(*shard, "plain=plain:Plain", cwd=tmp_path)
    assert done.returncode == 2
    assert "states no version" in done.stderr
    text = (tmp_path / "plain.py").read_text().replace("Plain:\n", "Plain:\n    version = '1'\n")
    (tmp_path / "plain.py").write_text(text)
    assert command(*shard, "plain=plain:Plain", cwd=tmp_path).returncode == 0


def test_check_takes_a_class(tmp_path):
    (tmp_path / "plain.py").write_text(
        "class Plain:\n    def on_enqueue(self, packet, queue):\n        return None\n"
    )
    (tmp_path / "s.yaml").write_text(line("{fifo: {aqm: plain}}"))
    found = command("check", "s.yaml", cwd=tmp_path)
    assert found.returncode == 2
    assert "or give one of your own: `--aqm NAME=MODULE:CLASS`" in found.stderr
    found = command("check", "s.yaml", "--aqm", "plain=plain:Plain", cwd=tmp_path)
    assert found.returncode == 0, found.stderr
