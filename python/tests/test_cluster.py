"""Studies on Dask: a real scheduler, real worker processes, and what becomes of them."""

import json
import os
import random
import signal
import struct
import subprocess
import sys
import time

import pytest
from studies import UNTIL, saved
from studies import study as a_study

import spillgate
from spillgate import cluster
from spillgate.cli import main
from spillgate.errors import InputError

pytest.importorskip("distributed")

QUICK = ("--no-figures", "--no-report")
STUDY = a_study(link="10 Mb/s", load="7 Mb/s", measured="duration: 20 s", runs=12)


class Machines:
    """A scheduler and workers in processes of their own."""

    def __init__(self, where, **settings):
        self.where = where
        self.environment = {**os.environ, **settings}
        self.file = where / "scheduler.json"
        self.processes = []
        self.start("scheduler", "--port", "0", "--no-dashboard")
        deadline = time.monotonic() + 60
        while not self.file.exists() or not self.file.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        address = json.loads(self.file.read_text())["address"]
        self.on = address.replace("tcp://", "dask://")

    def start(self, kind, *options):
        command = [sys.executable, "-m", "dask", kind, "--scheduler-file", self.file, *options]
        with (self.where / f"{kind}-{len(self.processes)}.log").open("wb") as log:
            process = subprocess.Popen(
                list(map(str, command)),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.environment,
            )
        self.processes.append(process)
        return self.processes[-1]

    def worker(self, *options):
        return self.start("worker", "--nthreads", "1", "--no-dashboard", *options)

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.fixture
def machines(tmp_path_factory):
    running = Machines(tmp_path_factory.mktemp("dask"))
    yield running
    running.stop()


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(STUDY)
    return path


def frames(store):
    """The keys of all stored runs, those that are there twice twice."""
    found = []
    for path in store.glob("*.runs"):
        content, at = path.read_bytes(), len(b"spillgate runs 1\n")
        while at + 52 <= len(content):
            (length,) = struct.unpack_from("<I", content, at + 4)
            if content[at : at + 4] == b"run " and at + 52 + length <= len(content):
                found.append(content[at + 16 : at + 32])
            at += 52 + length
    return found


def killed_in_the_middle(cli, machines, study, tmp_path, deaths):
    """A study over which workers are killed: nothing is lost, doubled, or other than it was."""
    whole = cli("sweep", study, *QUICK, "--out", "whole")
    assert whole.returncode in (0, 1, 3), whole.stderr
    workers = [machines.worker("--no-nanny") for _ in range(2)]
    store = tmp_path / "stored"
    options = ("--on", machines.on, "--store", store, "--out", "out")
    running = cli.start("sweep", study, *QUICK, *options)
    moments = random.Random(1)
    for _ in range(deaths):
        before, deadline = len(frames(store)), time.monotonic() + 60
        while len(frames(store)) <= before and running.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(moments.uniform(0, 0.05))
        victim = workers.pop(0)
        victim.kill()
        victim.wait()
        workers.append(machines.worker("--no-nanny"))
    out, err = running.communicate(timeout=120)
    assert running.returncode == whole.returncode, err + out
    assert saved(tmp_path / "out") == saved(tmp_path / "whole")
    found = frames(store)
    assert len(found) == len(set(found)) == 24


def test_a_worker_killed_in_the_middle_costs_nothing(cli, machines, study, tmp_path):
    killed_in_the_middle(cli, machines, study, tmp_path, deaths=1)


@pytest.mark.nightly
def test_workers_killed_again_and_again_cost_nothing(cli, machines, study, tmp_path):
    study.write_text(STUDY.replace("20 s", "60 s"))
    killed_in_the_middle(cli, machines, study, tmp_path, deaths=6)


def test_workers_of_this_machine(cli, study, tmp_path):
    short = ("--set", "measurement.duration=1 s", *QUICK)
    whole = cli("sweep", study, *short, "--out", "whole")
    made = cli("sweep", study, *short, "--on", "dask-local", "--jobs", "2", "--out", "out")
    assert made.returncode == whole.returncode, made.stderr
    assert saved(tmp_path / "out") == saved(tmp_path / "whole")
    assert len(frames(tmp_path / "out/runs")) == 24
    # A run that fails does so as it does here.
    limits = (*short, "--timeout", "1e-9", "--set", "measurement.duration=30 s")
    failed = cli("sweep", study, *limits, "--on", "dask-local", "--jobs", "1", "--out", "failed")
    assert failed.returncode == 3, failed.stderr
    # The clock is looked at now and then: short runs are through before.
    assert " runs could not be made:" in failed.stderr
    assert "run 0 of FQ: took longer than 0.000000001 s" in failed.stderr


def test_workers_stop_where_one_process_does(cli, study, tmp_path):
    study.write_text(
        a_study(link="1 Mb/s", load="1 kb/s", measured="duration: 2 s", runs=40, more=UNTIL)
    )
    whole = cli("sweep", study, *QUICK, "--out", "whole")
    assert whole.returncode == 0, whole.stderr
    made = cli("sweep", study, *QUICK, "--on", "dask-local", "--jobs", "2", "--out", "out")
    assert made.returncode == 0, made.stderr
    assert saved(tmp_path / "out") == saved(tmp_path / "whole")


DEADLY = """
import os, signal
from spillgate import cluster

# It is loaded more than once.
made = cluster.__dict__.setdefault("whole", cluster.make)

def make(block):
    if (1, 3) in [(block.points[place], run) for place, run in block.runs]:
        os.kill(os.getpid(), signal.SIGKILL)
    return made(block)

cluster.make = make
"""
"""Run 3 of the second point kills whoever tries it."""


def test_a_run_that_kills_every_worker_is_put_down(
    cli, monkeypatch, capsys, study, tmp_path, tmp_path_factory
):
    monkeypatch.setattr(cluster, "DEATHS", 1)
    monkeypatch.setattr(cluster, "PATIENCE_S", 60.0)
    monkeypatch.chdir(tmp_path)
    deadly = tmp_path / "deadly.py"
    deadly.write_text(DEADLY)
    short = ("--set", "measurement.duration=1 s", *QUICK)
    few = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}
    machines = Machines(tmp_path_factory.mktemp("dask"), **few)
    try:
        # It has a nanny, which starts another one each time.
        machines.worker("--preload", deadly)
        status = main(
            ["sweep", str(study), *short, "--on", machines.on, "--store", "s", "--out", "out"]
        )
    finally:
        machines.stop()
    said = capsys.readouterr().err
    assert status == 3, said
    assert "1 run could not be made:\n    run 3 of FQ: killed its worker 2 times" in said
    found = frames(tmp_path / "s")
    assert len(found) == len(set(found)) == 23
    # Nor is it tried here, unless that is wanted.
    again = cli("sweep", study, *short, "--store", "s", "--out", "again")
    assert again.returncode == 3
    assert "run 3 of FQ: killed its worker 2 times" in again.stderr
    options = ("--store", "s", "--retry-failed", "--out", "tried")
    tried = cli("sweep", study, *short, *options)
    whole = cli("sweep", study, *short, "--out", "whole")
    assert tried.returncode == whole.returncode, tried.stderr
    assert saved(tmp_path / "tried") == saved(tmp_path / "whole")


def test_a_worker_with_another_version_is_refused_and_named(cli, machines, study, tmp_path):
    other = tmp_path / "other.py"
    other.write_text("from spillgate import _engine\n_engine.VERSION = '0.0.7'\n")
    machines.worker("--no-nanny", "--preload", other, "--name", "old")
    refused = cli("sweep", study, *QUICK, "--on", machines.on, "--out", "out")
    assert refused.returncode == 2
    assert "worker tcp://" in refused.stderr
    assert " is refused: it has Spillgate 0.0.7 (" in refused.stderr
    assert f"; this is {spillgate.__version__} (" in refused.stderr
    assert not (tmp_path / "out").exists()


def test_an_address_that_does_not_answer(monkeypatch, capsys, study):
    monkeypatch.setattr(cluster, "PATIENCE_S", 1.0)
    begun = time.monotonic()
    assert main(["sweep", str(study), "--on", "dask://127.0.0.1:1"]) == 2
    assert time.monotonic() - begun < 10
    said = capsys.readouterr().err
    assert said == "spillgate: --on: nothing answers at dask://127.0.0.1:1 within 1 s\n"


def test_a_scheduler_without_workers(monkeypatch, capsys, machines, study):
    monkeypatch.setattr(cluster, "PATIENCE_S", 3.0)
    assert main(["sweep", str(study), "--on", machines.on]) == 2
    said = capsys.readouterr().err
    assert said == f"spillgate: --on: no worker has joined {machines.on} within 3 s\n"


def test_addresses():
    assert cluster.address("dask://[::1]:8786") == "tcp://[::1]:8786"
    assert cluster.address("dask://scheduler.example:80") == "tcp://scheduler.example:80"
    for wrong in ("dask://a:0", "dask://a:99999", "tcp://a:1", "dask://:1", "dask", ""):
        with pytest.raises(InputError, match="neither dask://HOST:PORT nor dask-local"):
            cluster.address(wrong)


def test_interrupting_keeps_what_was_stored(cli, machines, study, tmp_path):
    machines.worker("--no-nanny")
    longer = ("--set", "measurement.duration=60 s", *QUICK)
    store = tmp_path / "s"
    options = ("--on", machines.on, "--store", store, "--out", "out")
    running = cli.start("sweep", study, *longer, *options)
    deadline = time.monotonic() + 60
    while len(frames(store)) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(running.pid, signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert " of 24 runs are saved in out" in err
    assert len(saved(tmp_path / "out")[0]) >= 2


def test_an_exception_that_cannot_be_sent_is_told(monkeypatch):
    class UnsendableError(Exception):
        def __reduce__(self):
            raise TypeError("not to be sent")

    def fail(_):
        raise UnsendableError("no such thing")

    monkeypatch.setattr(cluster, "_make", fail)
    assert cluster.make(None) == cluster.Made(failed="UnsendableError: no such thing")


FAULTY = """
from spillgate import cluster

class Unsendable(Exception):
    def __reduce__(self):
        raise TypeError("not to be sent")

def fail(block):
    raise Unsendable("no such thing")

cluster._make = fail
"""


def test_a_worker_that_fails_ends_the_study(cli, study, tmp_path, tmp_path_factory):
    faulty = tmp_path / "faulty.py"
    faulty.write_text(FAULTY)
    machines = Machines(tmp_path_factory.mktemp("dask"))
    try:
        machines.worker("--preload", faulty)
        done = cli("sweep", study, *QUICK, "--on", machines.on, "--out", "out")
    finally:
        machines.stop()
    assert done.returncode == 2, done.stderr
    told = f"--on: a worker of {machines.on} failed: Unsendable: no such thing"
    assert told in done.stderr
    assert not (tmp_path / "out").exists()
