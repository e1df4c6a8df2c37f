"""Circuits of ATM from a router's configuration to verdicts, through the command line."""

import json

import pytest

ROUTER = """\
class-map VOICE
 match dscp ef
policy-map LLQ
 class VOICE
  priority percent 50
 class class-default
  fair-queue
vc-class atm SERVICE
 vbr-nrt 768 384
 tx-ring-limit 1
interface ATM0/1/0.1 point-to-point
 pvc 1/32
  class-vc SERVICE
  service-policy output LLQ
interface ATM0/1/0.2 multipoint
 pvc branch 1/40
  encapsulation aal5mux ip
  cbr 512
  service-policy output LLQ
 pvc 1/41
  ubr+ 500 100
"""

SCENARIO = """\
schema_version: 1
topology:
  nodes: [a, z]
  links:
    up: {from: a, to: z, rate: 2 Mb/s}
    down: {from: z, to: a, rate: 2 Mb/s}
configs:
  - {ios: r.cfg, interfaces: {NAME: up}}
traffic:
  - flow:
      {name: call, count: 2, class: voice, dscp: ef, from: a, to: z, source: {voip: {codec: g711}}}
  - flow: {name: upload, from: a, to: z, tcp: {cc: cubic, mss: 1460 B}}
measurement: {warmup: 2 s, duration: 5 s}
runs: {count: 2}
sla:
  - {class: voice, metric: owd_p99, max: 60 ms}
  - {class: upload, metric: goodput, min: 1 Mb/s}
"""


@pytest.fixture
def router(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "r.cfg"
    path.write_text(ROUTER)
    return path


@pytest.mark.usefixtures("router")
def test_a_configuration_in_verdicts_out(cli, tmp_path):
    scenario = tmp_path / "s.yaml"
    scenario.write_text(SCENARIO.replace("NAME", "ATM0/1/0.1"))
    done = cli("run", scenario, "--out", tmp_path / "out")
    assert done.returncode in (0, 1), done.stderr
    (voice,) = [line for line in done.stdout.splitlines() if "owd_p99 ≤ 60 ms" in line]
    (upload,) = [line for line in done.stdout.splitlines() if "goodput ≥ 1 Mb/s" in line]
    assert voice.rstrip().endswith("pass")
    # The contract, not the line of 2 Mb/s, is what the upload has.
    assert upload.rstrip().endswith("fail")


CALLS = """\
class-map VOICE
 match dscp ef
policy-map LLQ
 class VOICE
  priority 64
interface ATM0/1/0
 pvc 1/32
  vbr-nrt 384 384
  tx-ring-limit 1
  service-policy output LLQ
"""


@pytest.mark.parametrize("platform", ["ios", "ios-pre-hqf", "ios-hqf", "ios-xe", "ios-xr"])
def test_two_calls_fit_where_they_fit_on_the_router(cli, tmp_path, monkeypatch, platform):
    """60 B, 8 B of LLC and SNAP, 4 B of the router's own: 28.8 kb/s a call, not 42.4 of cells."""
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("r.cfg").write_text(CALLS)
    scenario = tmp_path / "s.yaml"
    text = SCENARIO.replace("interfaces: {NAME", f"platform: {platform}, interfaces: {{ATM0/1/0")
    text = text.replace("codec: g711", "codec: g729a")
    sla = "  - {class: voice, metric: loss_ratio, max: 0 %}\n"
    scenario.write_text(text[: text.index("  - {class: upload")] + sla)
    done = cli("run", scenario, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stdout + done.stderr
    done = cli("check", scenario)
    assert "SG-Q007" not in done.stdout
    assert "12 B" in done.stdout
    counts = "count IP packet + 12 B"
    done = cli("import", "r.cfg", "--platform", platform, "--interface", "ATM0/1/0")
    assert counts in done.stdout


def test_the_contract_is_shown(cli, router):
    done = cli("import", router.name)
    said = [line.strip() for line in done.stdout.splitlines()]
    own = "ATM0/1/0.1: LLQ, 384 kb/s (the contract of its circuit), transmit ring of 1 packet"
    assert own in said
    # Nothing is said of it.
    other = (
        "ATM0/1/0.2 1/40: LLQ, 512 kb/s (the contract of its circuit), transmit ring of 2 packets"
    )
    assert other in said
    done = cli("import", router.name, "--interface", "atm0/1/0.1")
    said = [line.strip() for line in done.stdout.splitlines()]
    want = "circuit 1/32 (line 12): nrt-vbr, PCR 768 kb/s, SCR 384 kb/s, MBS 94 cells, llc"
    assert want in said, done.stdout
    done = cli("import", router.name, "--interface", "atm0/1/0.2 1/41", "--format", "json")
    (found,) = json.loads(done.stdout)["interfaces"]
    circuit = found["circuit"]
    assert (circuit["category"], circuit["pcr"], circuit["mcr"]) == ("ubr", 500_000, 100_000)


@pytest.mark.parametrize(
    ("interface", "said"),
    [
        ("ATM0/1/0.2", "name one of them: ATM0/1/0.2 1/40, ATM0/1/0.2 1/41"),
        ("ATM0/1/0.2 1/42", "did you mean `ATM0/1/0.2 1/40`?"),
        ("ATM0/1/0.1 1/33", "there is no interface `ATM0/1/0.1 1/33`"),
    ],
)
def test_a_circuit_that_is_not_there_is_an_error(cli, router, interface, said):
    done = cli("import", router.name, "--interface", interface)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_circuit_is_exported_and_comes_back(cli, router, tmp_path):
    out = tmp_path / "out.cfg"
    done = cli("export", router, "--to", "ios", "--interface", "ATM0/1/0.1", "-o", out)
    assert (done.returncode, done.stderr) == (0, "")
    pvc = (
        "interface ATM0/1/0.1 point-to-point\n pvc 1/32\n  vbr-nrt 768 384 94\n"
        "  encapsulation aal5snap\n  tx-ring-limit 1\n  service-policy output LLQ\n"
    )
    assert pvc in out.read_text()
    again = cli("export", out, "--to", "ios")
    assert again.stdout == out.read_text()


@pytest.mark.usefixtures("router")
def test_a_circuit_of_a_scenario_is_exported(cli, tmp_path):
    scenario = tmp_path / "s.yaml"
    scenario.write_text(SCENARIO.replace("NAME", "ATM0/1/0.1"))
    change = ("--set", "topology.links.up.atm.contract.nrt-vbr.mbs=40")
    named = ("--interface", "atm0/0.7 5/60")
    done = cli("export", scenario, "--to", "ios", *named, *change)
    assert done.returncode == 0, done.stderr
    assert "interface ATM0/0.7 multipoint\n pvc 5/60\n  vbr-nrt 768 384 40\n" in done.stdout
    done = cli("export", scenario, "--to", "ios")
    assert (done.returncode, done.stderr) == (0, "")
    assert "interface up\n pvc 1/32\n" in done.stdout
    # Without a configuration nobody has said which circuit it is.
    lines = [
        line for line in SCENARIO.splitlines() if "configs" not in line and "r.cfg" not in line
    ]
    own = "rate: 2 Mb/s, policy: p, atm: {contract: {cbr: {pcr: 512 kb/s}}}"
    text = "\n".join(lines).replace("rate: 2 Mb/s", own, 1)
    scenario.write_text(f"{text}\npolicies: {{p: {{fifo: {{limit: 30 packets}}}}}}\n")
    done = cli("export", scenario, "--to", "ios")
    assert " pvc 1/32\n  cbr 512\n  encapsulation aal5snap\n  vc-hold-queue 30\n" in done.stdout
    assert "nobody has said the VPI/VCI of the circuit" in done.stderr


@pytest.mark.usefixtures("router")
def test_what_of_a_contract_does_not_fit_is_located(cli, tmp_path):
    scenario = tmp_path / "s.yaml"
    scenario.write_text(
        SCENARIO.replace("NAME", "ATM0/1/0.1").replace("rate: 2 Mb/s", "rate: 700 kb/s")
    )
    done = cli("run", scenario, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "r.cfg:9:2: error: the peak cell rate is above the rate of the link" in done.stderr
