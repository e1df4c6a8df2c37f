"""Scenarios that are no files: texts, mappings, and files in memory."""

from pathlib import Path

import pytest
import yaml

import spillgate
from spillgate import InputError

TEXT = """\
schema_version: 1
topology:
  nodes: [a, b]
  links:
    wan: {from: a, to: b, rate: 10 Mb/s, delay: 5 ms, policy: EDGE}
configs: [{ios: edge.cfg}]
traffic:
  - csv: {file: flows.csv, defaults: {from: a, to: b, source: cbr, packet: 500 B}}
measurement: {warmup: 1 s, duration: 4 s}
runs: {count: 2, seed: 4}
"""
FILES: dict[str, str | bytes] = {
    "edge.cfg": b"policy-map EDGE\n class class-default\n  fair-queue 16\n",
    "flows.csv": "name,count,class,rate\nvoice,3,voice,1 Mb/s\ndata,9,data,1 Mb/s\n",
}


def digests(results):
    return [(r.variant, r.run, r.digest) for r in results.runs]


@pytest.fixture
def on_disk(tmp_path):
    (tmp_path / "s.yaml").write_text(TEXT, encoding="utf-8")
    for name, content in FILES.items():
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(data)
    return tmp_path / "s.yaml"


def test_a_file_a_text_and_a_mapping_give_the_same(on_disk):
    wanted = spillgate.run(on_disk)
    for scenario in (TEXT, yaml.safe_load(TEXT)):
        found = spillgate.run(scenario, files=FILES)
        assert [d[1:] for d in digests(found)] == [d[1:] for d in digests(wanted)]
        assert found.description.hash == wanted.description.hash
        assert found.scenario_path == Path("scenario.yaml")
    assert spillgate.check(TEXT, files=FILES).classes == ("voice", "data")


def test_what_is_in_memory_stands_in_for_files(on_disk):
    less = {"flows.csv": "name,count,class,rate\nvoice,3,voice,1 Mb/s\n"}
    assert spillgate.check(on_disk, files=less).classes == ("voice",)
    (on_disk.parent / "flows.csv").unlink()
    assert spillgate.check(on_disk, files=less).classes == ("voice",)
    with pytest.raises(InputError, match=r"flows\.csv`: no such file"):
        spillgate.check(on_disk)


def test_a_run_from_memory_is_saved_with_its_files(tmp_path):
    results = spillgate.run(TEXT, files=FILES)
    out = results.save(tmp_path / "run")
    assert (out / "scenario.yaml").read_text(encoding="utf-8") == TEXT
    assert (out / "edge.cfg").read_bytes() == FILES["edge.cfg"]
    assert digests(spillgate.run(out / "scenario.yaml")) == digests(results)
    manifest = spillgate.load(out).manifest()
    assert set(manifest["file_hashes"]) == {"scenario.yaml", *FILES}


def test_files_outside_are_not_written(tmp_path):
    text = TEXT.replace("flows.csv", "../flows.csv")
    results = spillgate.run(text, files={**FILES, "../flows.csv": FILES["flows.csv"]})
    out = results.save(tmp_path / "below/run")
    assert not (out.parent / "flows.csv").exists()
    assert (out / "outside/1-flows.csv").read_text(encoding="utf-8") == FILES["flows.csv"]
    assert digests(spillgate.load(out)) == digests(results)


def test_mistakes_name_the_place():
    with pytest.raises(InputError, match=r"scenario\.yaml:5:"):
        spillgate.check(TEXT.replace("10 Mb/s", "fast"), files=FILES)
    wrong = {
        **FILES,
        "edge.cfg": "policy-map EDGE\n class class-default\n  bandwidth percent 300\n",
    }
    with pytest.raises(InputError, match=r"edge\.cfg:3:"):
        spillgate.Simulation(TEXT, files=wrong, strict=True)
    with pytest.raises(InputError, match="holds what no scenario file can"):
        spillgate.check({"schema_version": {1, 2}})
    with pytest.raises(InputError, match="no-such-file"):
        spillgate.check("no-such-file.yaml")
