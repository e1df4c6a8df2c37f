"""`spillgate sweep`: a study in parts, limits of runs, and what cannot be made or stored."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from functools import partial

import pytest
from studies import UNTIL, saved
from studies import study as a_study

from spillgate import _engine
from spillgate import study as studies
from spillgate.run import Progress
from spillgate.scenario import open_job
from spillgate.source import Source
from spillgate.study import CHUNK, Part

QUICK = ("--no-figures", "--no-report")
STUDY = a_study(
    link="1 Mb/s",
    load="700 kb/s",
    measured="duration: 200 ms, interval: 50 ms",
    runs=3,
    more="""axes:
  - {name: load, set: traffic.f.source.rate, values: [200 kb/s, 500 kb/s, 900 kb/s]}
""",
)


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(STUDY)
    return path


def stored(directory):
    return _engine.stored_runs(directory)


def test_parts_make_what_the_whole_makes(cli, study, tmp_path):
    whole = cli("sweep", study, *QUICK, "--out", "whole")
    assert whole.returncode in (0, 1, 3), whole.stderr
    seen = []
    for i in range(1, 6):
        made = cli("sweep", study, "--shard", f"{i}/5", "--store", f"part{i}")
        assert made.returncode == 0, made.stderr
        said = re.match(
            r"part (\d) of 5: (\d) of (\d) runs are in part\d, (\d) of them new", made.stdout
        )
        assert said.group(1, 2, 4) == (str(i), said[3], said[3])
        seen.append(stored(tmp_path / f"part{i}"))
    assert len(set().union(*seen)) == sum(map(len, seen)) == 18
    # Merged by copying.
    (tmp_path / "all").mkdir()
    for i in range(1, 6):
        for file in (tmp_path / f"part{i}").iterdir():
            (tmp_path / "all" / file.name).write_bytes(file.read_bytes())
    again = cli("sweep", study, "--shard", "1/1", "--store", "all")
    assert again.stdout == "part 1 of 1: 18 of 18 runs are in all, 0 of them new\n"
    merged = cli("sweep", study, *QUICK, "--store", "all", "--out", "merged")
    assert merged.returncode == whole.returncode
    assert saved(tmp_path / "merged") == saved(tmp_path / "whole")
    assert sorted(stored(tmp_path / "merged/runs")) == sorted(stored(tmp_path / "whole/runs"))
    # None was made again.
    assert len(list((tmp_path / "all").iterdir())) == 5


def test_parts_stop_where_the_whole_does(cli, study, tmp_path):
    study.write_text(
        a_study(link="1 Mb/s", load="1 kb/s", measured="duration: 2 s", runs=40, more=UNTIL)
    )
    whole = cli("sweep", study, *QUICK, "--out", "whole")
    assert whole.returncode == 0, whole.stderr
    for i in range(1, 4):
        made = cli("sweep", study, "--shard", f"{i}/3", "--store", "all")
        assert made.returncode == 0, made.stderr
    keys = stored(tmp_path / "all")
    merged = cli("sweep", study, *QUICK, "--store", "all", "--out", "merged")
    assert merged.returncode == 0, merged.stderr
    assert saved(tmp_path / "merged") == saved(tmp_path / "whole")
    # The parts have made what the points need, and not what is more than that.
    assert (
        sorted(stored(tmp_path / "all")) == sorted(keys) == sorted(stored(tmp_path / "whole/runs"))
    )
    runs, _ = saved(tmp_path / "whole")
    each = Counter(r["variant"] for r in runs)
    assert len(each) == 6
    assert min(each.values()) < max(each.values())


def test_parts_find_the_warm_up_of_the_whole(cli, study, tmp_path):
    text = a_study(link="1 Mb/s", load="700 kb/s", measured="duration: 2 s", runs=3)
    study.write_text(text.replace("warmup: 0 s", "warmup: auto"))
    whole = cli("sweep", study, *QUICK, "--out", "whole")
    assert whole.returncode == 0, whole.stderr
    (tmp_path / "all").mkdir()
    for i in (1, 2):
        made = cli("sweep", study, "--shard", f"{i}/2", "--store", f"part{i}")
        assert made.returncode == 0, made.stderr
        assert "spillgate: the warm-up of " in made.stderr
        assert made.stdout == f"part {i} of 2: 3 of 3 runs are in part{i}, 3 of them new\n"
        for file in (tmp_path / f"part{i}").iterdir():
            (tmp_path / "all" / file.name).write_bytes(file.read_bytes())
    files = sorted((tmp_path / "all").iterdir())
    merged = cli("sweep", study, *QUICK, "--store", "all", "--out", "merged")
    assert merged.returncode == 0, merged.stderr
    assert saved(tmp_path / "merged") == saved(tmp_path / "whole")
    # Nothing was left to be made.
    assert sorted((tmp_path / "all").iterdir()) == files
    own = text.replace("set: {}", "set: {measurement.warmup: auto}")
    study.write_text(own)
    failed = cli("sweep", study, "--shard", "1/2", "--store", "own")
    assert failed.returncode == 2
    assert "a variant sets measurement.warmup to auto" in failed.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--shard", "0/3"), "is no part of several"),
        (("--shard", "4/3"), "is no part of several"),
        (("--shard", "x"), "is no part of several"),
        (("--shard", "1/3"), "say with --store DIR"),
        (("--shard", "1/3", "--store", "s", "--out", "o"), "leave out --out"),
        (("--shard", "1/3", "--store", "s", "--on", "dask-local"), "leave out --on"),
        (("--timeout", "0"), "no positive number of seconds"),
        (("--memory", "much"), "no positive number of megabytes"),
        (("--on", "slurm"), "neither dask://HOST:PORT nor dask-local"),
        (("--on", "dask://host"), "neither dask://HOST:PORT nor dask-local"),
    ],
)
def test_bad_options(cli, study, tmp_path, options, said):
    failed = cli("sweep", study, *options)
    assert failed.returncode == 2
    assert said in failed.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["study.yaml"]


def test_values_of_all_axes_are_checked_by_each_part(cli, study, tmp_path):
    study.write_text(STUDY.replace("900 kb/s]", "900 kb]"))
    failed = cli("sweep", study, "--shard", "1/3", "--store", "s")
    assert failed.returncode == 2
    assert "study.yaml:15:75: error" in failed.stderr
    assert "900 kb" in failed.stderr
    assert not (tmp_path / "s").exists()


def test_a_run_that_exceeds_its_limits_is_put_down_and_the_others_go_on(cli, study, tmp_path):
    # One point would take hours.
    heavy = STUDY.replace(
        "axes:",
        "  - {name: HEAVY, set: {topology.links.wan.rate: 100 Gb/s, measurement.duration: 1000 s,"
        " traffic.f.source.rate: 90 Gb/s}}\naxes:",
    )
    heavy = heavy[: heavy.index("axes:")]
    study.write_text(heavy)
    options = ("sweep", study, *QUICK, "--timeout", "1", "--store", "s")
    made = cli(*options, "--out", "out")
    assert made.returncode == 3, made.stderr
    assert "3 runs could not be made:" in made.stderr
    assert "run 0 of HEAVY: took longer than 1 s" in made.stderr
    assert len(saved(tmp_path / "out")[0]) == 6
    # It is known, and not tried again.
    again = cli(*options, "--out", "again")
    assert again.returncode == 3
    assert "run 0 of HEAVY: took longer than 1 s" in again.stderr
    assert saved(tmp_path / "again") == saved(tmp_path / "out")
    part = cli("sweep", study, "--shard", "1/1", "--store", "s", "--timeout", "1")
    assert part.returncode == 3
    assert part.stdout == "part 1 of 1: 6 of 9 runs are in s, 0 of them new\n"
    assert "run 2 of HEAVY: took longer than 1 s" in part.stderr
    # Whoever reads the directory sees that it is not whole.
    report = cli("report", "out")
    assert report.returncode == 0, report.stderr
    # By memory, before it begins.
    tight = cli("sweep", study, *QUICK, "--memory", "0.01", "--out", "tight")
    assert tight.returncode == 3
    assert "may need " in tight.stderr
    assert "the limit is 0 MB" in tight.stderr
    assert saved(tmp_path / "tight")[0] == []


def test_two_studies_write_one_store_at_once(cli, study, tmp_path):
    whole = cli("sweep", study, *QUICK, "--runs", "40", "--out", "whole")
    assert whole.returncode in (0, 1, 3)
    other = tmp_path / "other.yaml"
    # Half of its points are those of the first study.
    other.write_text(STUDY.replace("[200 kb/s, 500 kb/s, 900 kb/s]", "[500 kb/s, 600 kb/s]"))
    commands = [
        ("sweep", study, *QUICK, "--runs", "40", "--store", "s", "--jobs", "1", "--out", f"out{i}")
        for i in range(2)
    ]
    commands.append(("sweep", other, "--runs", "40", "--store", "s", "--shard", "1/1"))
    processes = [cli.start(*command) for command in commands]
    for process in processes:
        process.communicate(timeout=120)
        assert process.returncode in (0, 1, 3)
    for i in range(2):
        assert saved(tmp_path / f"out{i}") == saved(tmp_path / "whole")
    assert len(stored(tmp_path / "s")) == 240 + 80


def test_a_store_of_a_newer_version_is_named(cli, study, tmp_path):
    (tmp_path / "s").mkdir()
    (tmp_path / "s/newer.runs").write_bytes(b"spillgate runs 2\nwhatever")
    made = cli("sweep", study, *QUICK, "--store", "s", "--out", "out")
    assert made.returncode in (0, 1, 3)
    said = "newer.runs: it has version 2 of the format; this Spillgate reads version 1"
    assert said in made.stderr
    assert len(saved(tmp_path / "out")[0]) == 18
    assert (tmp_path / "s/newer.runs").read_bytes() == b"spillgate runs 2\nwhatever"


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 200 kB."""
    where = tmp_path / "small"
    where.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(where)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"NOT TESTED: a full disk: no tmpfs can be mounted: {mounted.stderr.strip()}")
    yield where
    subprocess.run(["umount", str(where)], check=True)


def test_a_full_disk_loses_nothing_that_was_stored(cli, study, small_disk, tmp_path):
    part = ("sweep", study, "--runs", "60", "--shard", "1/1", "--store", small_disk)
    made = cli(*part)
    assert made.returncode == 2, made.stderr
    assert "No space left on device" in made.stderr
    before = stored(small_disk)
    assert 10 < len(before) < 360
    # What there is counts on a larger disk.
    for file in small_disk.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    merged = cli("sweep", study, "--runs", "60", "--shard", "1/1", "--store", tmp_path)
    assert merged.returncode == 0, merged.stderr
    assert f", {360 - len(before)} of them new" in merged.stdout
    # Results are shown although they cannot be saved there.
    for file in small_disk.iterdir():
        file.unlink()
    shown = cli("sweep", study, *QUICK, "--runs", "60", "--out", small_disk / "out")
    assert shown.returncode == 2
    assert "FIFO" in shown.stdout


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_place_that_cannot_be_written_is_said_at_once(cli, study, tmp_path):
    (tmp_path / "s").mkdir(mode=0o500)
    made = cli("sweep", study, "--shard", "1/1", "--store", "s/t")
    assert made.returncode == 2
    assert "cannot keep runs in s/t: Permission denied" in made.stderr


def test_a_place_that_is_a_file_is_said_at_once(cli, study, tmp_path):
    (tmp_path / "s").write_text("not a directory")
    made = cli("sweep", study, "--shard", "1/1", "--store", "s")
    assert made.returncode == 2
    assert "cannot keep runs in s: " in made.stderr
    assert (tmp_path / "s").read_text() == "not a directory"


def test_many_points_are_made_piece_by_piece(tmp_path, monkeypatch):
    opened = partial(open_job, Source.of(STUDY), apart=True)
    whole = Part(opened, 1, 1).run(tmp_path / "whole")
    assert (whole.runs, whole.done, whole.kept) == (18, 18, 0)
    assert CHUNK > 6
    monkeypatch.setattr(studies, "CHUNK", 2)
    for i in range(1, 4):
        part = Part(opened, i, 3)
        assert part.points == 6
        made = part.run(tmp_path / "pieces")
        assert (made.runs, made.done, made.kept) == (6, 6, 0)
    assert stored(tmp_path / "pieces") == stored(tmp_path / "whole")
    # A point that is wrong only together with others does not take them with it.
    wrong = STUDY.replace(
        "axes:", "axes:\n  - {name: limit, set: policies.FIFO.fifo.limit, values: [5 packets]}", 1
    )
    made = Part(partial(open_job, Source.of(wrong), apart=True), 1, 1).run(tmp_path / "wrong")
    assert (made.runs, made.done, made.refused) == (18, 18, [])


@pytest.mark.parametrize("heading", ["Slurm", "HyperQueue", "GNU parallel", "Kubernetes"])
@pytest.mark.usefixtures("study")
def test_documented_lines_run_all_parts(root, tmp_path, heading):
    """What starts the processes is played by a shell, with its variable of the part."""
    page = (root / "docs/howto/many-machines.md").read_text(encoding="utf-8")
    block = page.split(f"### {heading}\n", 1)[1].split("```")[1]
    (line,) = re.findall(r"spillgate sweep .*--quiet", block)
    line = line.replace("{}", "$PART").replace("/100", "/4").replace("/8", "/4")
    line = line.replace("spillgate ", f"{sys.executable} -m spillgate ", 1)
    for part in range(1, 5):
        environment = {
            **os.environ,
            "PART": str(part),
            "SLURM_ARRAY_TASK_ID": str(part),
            "HQ_TASK_ID": str(part),
            "JOB_COMPLETION_INDEX": str(part - 1),
        }
        subprocess.run(["bash", "-euc", line], cwd=tmp_path, env=environment, check=True)
        assert len(stored(tmp_path / "stored")) == (5, 10, 14, 18)[part - 1]


def test_progress_for_programs(cli, study):
    quiet = ("--quiet", "--progress", "json")
    made = cli("sweep", study, "--shard", "1/2", "--store", "s", *quiet)
    said = [json.loads(line) for line in made.stderr.splitlines()]
    counts = ["fraction", "runs", "runs_done", "runs_stored_before"]
    keys = [*counts, "events", "elapsed_s", "remaining_s"]
    assert all(list(one) == keys for one in said)
    last = said[-1]
    assert [last[k] for k in counts] == [1.0, 9, 9, 0]
    assert (last["events"] > 0, last["remaining_s"]) == (True, 0.0)
    again = cli("run", study, *QUICK, "--progress", "json", "--out", "out")
    last = json.loads([s for s in again.stderr.splitlines() if s.startswith("{")][-1])
    assert (last["runs_done"], last["runs_stored_before"]) == (18, 0)


def test_the_time_that_is_left_does_not_count_what_was_stored():
    half = Progress(0.75, 75, 100, 1, 10.0, runs_kept=50)
    assert half.remaining_s == 10.0
    assert Progress(0.5, 50, 100, 1, 10.0, runs_kept=50).remaining_s is None
    assert Progress(1.0, 100, 100, 0, 1.0, runs_kept=100).remaining_s == 0.0


def test_a_large_study_asks_first(cli, study, tmp_path):
    large = ("--runs", "20000", "--store", "s")
    asked = cli("sweep", study, *large, "--shard", "1/1")
    assert asked.returncode == 2
    assert re.search(r"error: 120,000 runs: about .* with \d+ threads; add --yes", asked.stderr)
    assert not (tmp_path / "s").exists()
    # A part of it is smaller.
    part = cli("sweep", study, *large, "--shard", "1/100")
    assert part.returncode == 0
    assert re.search(r"spillgate: 1,200 runs: about .* with \d+ threads", part.stderr)
    assert len(stored(tmp_path / "s")) == 1200


def test_a_million_points_are_planned_without_a_world_of_each(cli, study, tmp_path):
    loads = ", ".join(f"{100 + i} kb/s" for i in range(500))
    limits = ", ".join(f"{i + 1} packets" for i in range(1000))
    study.write_text(
        STUDY.replace("[200 kb/s, 500 kb/s, 900 kb/s]", f"[{loads}]").replace(
            "count: 3", "count: 1"
        )
        + f"  - {{name: limit, set: policies.FIFO.fifo.limit, values: [{limits}]}}\n"
    )
    part = cli("sweep", study, "--shard", "7/100000", "--store", "s")
    assert part.stdout == "part 7 of 100000: 10 of 10 runs are in s, 10 of them new\n", part.stderr
    assert len(stored(tmp_path / "s")) == 10
    script = (
        "import re, sys\nfrom pathlib import Path\nfrom spillgate.cli import main\n"
        f"status = main(['sweep', {str(study)!r}, '--shard', '8/100000', '--store', 's'])\n"
        # Not of the process that this was forked from, which counts in `getrusage`.
        "text = Path('/proc/self/status').read_text()\n"
        "print(status, re.search(r'VmHWM:\\s+(\\d+)', text)[1], file=sys.stderr)\n"
    )
    run = [sys.executable, "-c", script]
    made = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True)
    status, kilobytes = map(int, made.stderr.split()[-2:])
    assert status == 0
    assert kilobytes < 300_000
