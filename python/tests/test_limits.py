"""Inputs that are too large are refused before they cost anything."""

import resource
import signal
import subprocess
import sys
import time

import pytest
import yaml

SHORT = ("--runs", "2", "--set", "measurement.duration=2 s", "--set", "measurement.warmup=1 s")


def limited(*arguments, cwd, gigabytes=2.0, seconds=60):
    """The command line with so much address space."""
    most = int(gigabytes * 1e9)
    return subprocess.run(
        [sys.executable, "-m", "spillgate", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=seconds,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
    )


@pytest.mark.parametrize(
    "command",
    [
        ("run", "/dev/zero"),
        ("check", "/dev/zero"),
        ("import", "/dev/zero"),
        ("export", "/dev/zero", "--to", "ios"),
        ("profile", "/dev/zero"),
        ("run", "first.yaml", "--figures", "/dev/zero"),
        ("run", "first.yaml", "--sla", "/dev/zero"),
        ("report", "endless"),
        ("explain", "endless"),
    ],
)
def test_a_file_without_an_end_is_refused(first, tmp_path, command):
    (tmp_path / "first.yaml").write_bytes(first.read_bytes())
    (tmp_path / "endless/runs").mkdir(parents=True)
    # There are no links to devices in run directories, but nobody forbids them.
    (tmp_path / "endless/scenario.yaml").symlink_to("/dev/zero")
    done = limited(*command, cwd=tmp_path, gigabytes=3.5)
    assert done.returncode == 2, done.stderr
    said = ("larger than", "not a pcap", "outside of it")
    assert any(words in done.stderr for words in said)


def test_a_scenario_of_a_gigabyte_is_not_read(tmp_path):
    path = tmp_path / "huge.yaml"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    done = limited("check", path, cwd=tmp_path)
    assert done.returncode == 2
    assert "the file is larger than 64 MiB [E0102]" in done.stderr


def nested(levels, classes):
    """A scenario whose policy has `classes` to the power of `levels` classes."""
    policies = {}
    for level in range(levels):
        inner = {"policy": f"p{level + 1}"} if level + 1 < levels else {}
        policies[f"p{level}"] = {
            "class-based": {
                "classes": [
                    {"name": f"c{i}", "match": {"dscp": i}, **inner} for i in range(classes)
                ]
            }
        }
    return {
        "schema_version": 1,
        "topology": {
            "nodes": ["a", "b"],
            "links": {
                "l": {"from": "a", "to": "b", "rate": "1 Mb/s", "delay": "1 ms", "policy": "p0"}
            },
        },
        "policies": policies,
        "traffic": [
            {
                "flow": {
                    "name": "f",
                    "from": "a",
                    "to": "b",
                    "source": {"cbr": {"rate": "100 kb/s", "packet": "100 B"}},
                }
            }
        ],
        "measurement": {"duration": "1 s"},
    }


@pytest.mark.parametrize("key", ["policy", "input_policy"])
def test_classes_are_counted_before_they_are_walked(tmp_path, key):
    scenario = nested(8, 20)
    link = scenario["topology"]["links"]["l"]
    link[key] = link.pop("policy")
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(scenario))
    for command in (("check", "s.yaml"), ("run", "s.yaml"), ("export", "s.yaml", "--to", "tc")):
        done = limited(*command, cwd=tmp_path, seconds=20)
        assert done.returncode == 2
        assert "with all nested policies it has more than 4096 classes" in done.stderr


def test_classes_of_a_configuration_are_counted_before_they_are_walked(tmp_path):
    lines = [f"class-map match-any C{i}\n match dscp {i}" for i in range(20)]
    for level in reversed(range(8)):
        lines.append(f"policy-map P{level}")
        inner = f"service-policy P{level + 1}" if level < 7 else "police 8000"
        lines += [f" class C{i}\n  {inner}" for i in range(20)]
    lines.append("interface Serial0/0\n bandwidth 10000\n service-policy output P0")
    (tmp_path / "r.cfg").write_text("\n".join(lines) + "\n")
    for command in (("check",), ("import",), ("export", "--to", "tc"), ("export", "--to", "ios")):
        done = limited(command[0], "r.cfg", *command[1:], cwd=tmp_path, seconds=20)
        assert done.returncode == 2
        assert "r.cfg:123:1: error: policy-map `P5` has too many classes" in done.stderr


def test_reading_can_be_interrupted(cli, tmp_path):
    # Tens of seconds of work in the core.
    (tmp_path / "s.yaml").write_text("schema_version: 1\nx: [" + "a: 1, " * 1_300_000 + "]\n")
    process = cli.start("check", "s.yaml")
    time.sleep(1.0)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=10)
    assert process.returncode == 130, err


def test_an_estimate_above_the_memory_of_the_machine_can_be_ignored(cli, tmp_path):
    # A queue that could hold more than any machine has, and does not.
    scenario = {
        "schema_version": 1,
        "topology": {
            "nodes": ["a", "b"],
            "links": {
                "l": {
                    "from": "a",
                    "to": "b",
                    "rate": "10 Mb/s",
                    "delay": "1 ms",
                    "duplex": True,
                    "policy": "deep",
                }
            },
        },
        "policies": {"deep": {"fifo": {"limit": "4000000000 packets"}}},
        "traffic": [{"flow": {"name": "t", "count": 20, "from": "a", "to": "b", "tcp": {}}}],
        "measurement": {"warmup": "0 s", "duration": "100 ms", "interval": "10 ms"},
        "runs": {"count": 32, "seed": 1},
    }
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(scenario))
    refused = cli("run", "s.yaml", "--jobs", "32")
    assert refused.returncode == 2
    assert "--ignore-memory" in refused.stderr
    assert not (tmp_path / "runs").exists()
    done = cli("run", "s.yaml", "--jobs", "32", "--ignore-memory", "--out", "out")
    assert done.returncode == 0, done.stderr
