"""TCP connections from the scenario to the saved results."""

import spillgate

SCENARIO = """
schema_version: 1
topology:
  nodes: [a, b]
  links:
    l: {from: a, to: b, rate: 10 Mb/s, delay: 10 ms, duplex: true, policy: P}
policies: {P: {fifo: {limit: 50 packets}}}
traffic:
  - flow: {name: upload, from: a, to: b, tcp: {profile: linux}}
  - flow: {name: file, count: 2, class: files, from: a, to: b, start: 2 s, bytes: 200 kB, tcp: {}}
  - flow: {name: calls, from: a, to: b, source: {cbr: {rate: 500 kb/s, packet: 200 B}}}
measurement: {warmup: 1 s, duration: 10 s}
runs: {count: 2}
"""


def test_connections_are_measured_and_saved(tmp_path):
    scenario = tmp_path / "tcp.yaml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    results = spillgate.run(scenario)
    variant = results.description.variants[0]
    upload = results.value(variant, "class", "upload", "goodput")
    assert 5e6 < upload.mean < 9.7e6
    files = results.value(variant, "class", "files", "goodput")
    # Two transfers of 200 kB in the ten seconds that are measured.
    assert files.mean == 2 * 200e3 * 8 / 10
    assert results.value(variant, "class", "files", "fct_mean").mean > 0.3
    assert not results.table(scope="class", name="calls", metric="goodput")
    saved = results.save(tmp_path / "run")
    assert (saved / "results.parquet").stat().st_size > 1000
    assert spillgate.load(saved).value(variant, "class", "upload", "goodput") == upload
