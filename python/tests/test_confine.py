"""Files outside a scenario's folder: listed, refused with `--confine`, and never shown."""

import json

import pytest

import spillgate

SCENARIO = """\
schema_version: 1
topology:
  nodes: [a, b]
  links:
    wan: {from: a, to: b, rate: 10 Mb/s, delay: 5 ms, policy: Q, duplex: true}
policies:
  Q: {fifo: {limit: 50 packets, aqm: {red: {min_th: 5, max_th: 15}}}}
traffic:
  - csv: {file: FILE}
  - flow: {name: t, count: 4, from: a, to: b, tcp: {}}
measurement: {warmup: 100 ms, duration: 300 ms, interval: 100 ms}
runs: {count: 1, seed: 4}
"""
FLOWS = "name,from,to,rate,packet\nvoice,a,b,1 Mb/s,100 B\n"
SECRET = "root:$6$salt$hunter2:19000:0:99999:7:::\ndaemon:*:19000:0:99999:7:::\n"
WORDS = ("hunter2", "19000", "daemon", "salt")


@pytest.fixture
def folder(tmp_path):
    """The folder of a scenario, beside a table that it may refer to."""
    (tmp_path / "flows.csv").write_text(FLOWS)
    made = tmp_path / "in"
    made.mkdir()
    return made


def scenario(folder, file):
    path = folder / "s.yaml"
    path.write_text(SCENARIO.replace("FILE", str(file)))
    return path


def refused(path):
    """The error of a scenario that is confined; none if it is read."""
    try:
        spillgate.check(path, confine=True)
    except spillgate.InputError as error:
        (problem,) = error.diagnostics
        assert problem.code == "E0110"
        return problem
    return None


def test_links_and_parents_are_followed(folder, tmp_path):
    (folder / "flows.csv").write_text(FLOWS)
    (folder / "below").mkdir()
    (folder / "link.csv").symlink_to("flows.csv")
    (folder / "away.csv").symlink_to("../flows.csv")
    (folder / "up").symlink_to("..")
    (folder / "nowhere.csv").symlink_to("../nothing.csv")
    (tmp_path / "back").symlink_to("in")
    for file in ("flows.csv", "./flows.csv", "below/../flows.csv", "link.csv", "../in/flows.csv"):
        assert refused(scenario(folder, file)) is None, file
        assert spillgate.check(scenario(folder, file)).outside == ()
    assert refused(scenario(folder, "../back/flows.csv")) is None
    outside = ("../flows.csv", tmp_path / "flows.csv", "away.csv", "up/flows.csv")
    for file in outside:
        problem = refused(scenario(folder, file))
        assert (problem.line, problem.found) == (9, str(file))
        assert "lies outside the scenario's folder" in problem.message
        assert spillgate.check(scenario(folder, file)).outside == (str(file),)
    # Whether anything is there is nobody's business.
    for file in ("../no.csv", "up/no.csv", "nowhere.csv", "below/../../no.csv", "/no/no.csv"):
        assert refused(scenario(folder, file)), file
    # Nor is a scenario one that leads elsewhere.
    scenario(folder, "flows.csv").rename(tmp_path / "s.yaml")
    (folder / "s.yaml").symlink_to("../s.yaml")
    assert refused(folder / "s.yaml").file.endswith("s.yaml")


def test_what_is_given_is_read(folder, tmp_path):
    (tmp_path / "acme.yaml").write_text(
        "customer: Acme\nobjectives: [{class: voice, metric: owd_p99, max: 50 ms}]\n"
    )
    path = scenario(folder, "../flows.csv")
    memory = {"../flows.csv": FLOWS}
    found = spillgate.check(path, files=memory, sla=[tmp_path / "acme.yaml"], confine=True)
    assert [r["customer"] for r in found.sla] == ["Acme"]
    assert found.outside == ("../acme.yaml",)
    results = spillgate.run(path, files=memory, confine=True)
    assert len(results.extend(runs=2).runs) == 2


def test_every_command_that_reads_a_scenario_refuses(cli, folder, tmp_path):
    path = scenario(folder, "../flows.csv")
    done = cli("run", path, "--out", "out")
    assert done.returncode == 0
    out = tmp_path / "out"
    assert json.loads((out / "manifest.json").read_text())["outside"] == ["../flows.csv"]
    assert spillgate.load(out).manifest()["outside"] == ["../flows.csv"]
    for command in (
        ("run", path, "--out", "refused"),
        ("run", path, "--resume", "out"),
        ("check", path),
        ("export", path, "--to", "tc"),
        ("fluid", path),
        ("bound", path),
        ("estimate", path),
    ):
        fine = cli(*command)
        assert fine.returncode == 0, fine.stderr
        done = cli(*command, "--confine")
        assert done.returncode == 2, command
        assert "s.yaml:9:" in done.stderr, command
        assert "[E0110]" in done.stderr, command
    # A run directory has a copy.
    (tmp_path / "flows.csv").unlink()
    for command in (("explain", out), ("pcap", out, "wan:out"), ("report", out, "--worst", "1")):
        done = cli(*command, "--confine")
        assert done.returncode == 0, done.stderr
    assert len(spillgate.load(out, confine=True).extend(runs=2).runs) == 2


def test_check_lists_what_lies_outside(cli, folder):
    done = cli("check", scenario(folder, "../flows.csv"))
    assert "files outside its folder: ../flows.csv" in done.stdout.splitlines()
    found = json.loads(cli("check", folder / "s.yaml", "--format", "json").stdout)
    assert (found["files"], found["outside"]) == (["../flows.csv"], ["../flows.csv"])
    (folder / "flows.csv").write_text(FLOWS)
    done = cli("check", scenario(folder, "flows.csv"))
    assert "outside" not in done.stdout


WAYS = {
    "csv": ("csv: {file: FILE}", "csv: {file: @}"),
    "matrix": ("csv: {file: FILE}", "matrix: {file: @}"),
    "show": ("csv: {file: FILE}", "show-policy-map: {file: @, from: a, to: b}"),
    "capture": ("csv: {file: FILE}", "capture: {name: c, from: a, to: b, file: @}"),
    "trace": ("duplex: true", "duplex: true, rate_process: {trace: {file: @}}"),
    "mahimahi": ("duplex: true", "duplex: true, rate_process: {mahimahi: {file: @}}"),
    "sla": ("runs:", "sla: [{file: @}]\nruns:"),
    "config": ("runs:", "configs: [{ios: @}]\nruns:"),
    "agreements": ("runs:", "agreements: [{policy: P, file: @}]\nruns:"),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_error_shows_lines_of_other_files(way, cli, folder, tmp_path):
    before, after = WAYS[way]
    (folder / "flows.csv").write_text(FLOWS)
    (folder / "own").write_text(SECRET)
    (tmp_path / "others").write_text(SECRET)
    for file in ("own", "../others", "../others.csv"):
        (tmp_path / "others.csv").write_text(f"name,{SECRET}")
        text = SCENARIO.replace(before, after.replace("@", file)).replace("FILE", "flows.csv")
        (folder / "s.yaml").write_text(text)
        for command in (("check",), ("check", "--format", "json"), ("run", "--out", "out")):
            done = cli(command[0], folder / "s.yaml", *command[1:])
            assert done.returncode == 2, done.stdout
            said = done.stdout + done.stderr
            assert file.removeprefix("../") in said
            assert not [w for w in WORDS if w in said], said


def test_a_configuration_is_quoted_wherever_it_lies(folder, tmp_path):
    (tmp_path / "ce.cfg").write_text(
        "hostname ce\npolicy-map EDGE\n class class-default\n  bandwidth percent 300\n"
    )
    (folder / "flows.csv").write_text(FLOWS)
    text = SCENARIO.replace("runs:", "configs: [{ios: ../ce.cfg}]\nruns:")
    (folder / "s.yaml").write_text(text.replace("FILE", "flows.csv"))
    with pytest.raises(spillgate.InputError, match="bandwidth percent 300"):
        spillgate.Simulation(folder / "s.yaml", strict=True)
