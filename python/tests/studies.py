"""Studies that tests run whole, in parts, and on workers."""

import json


def study(*, link, load, measured, runs, more=""):
    """A Poisson source over one link with each of two policies, and what else is appended."""
    return f"""
schema_version: 1
topology:
  nodes: [a, b]
  links: {{wan: {{from: a, to: b, rate: {link}, policy: FIFO}}}}
policies: {{FIFO: {{fifo: {{limit: 20 packets}}}}, FQ: {{fq: {{}}}}}}
traffic:
  - flow: {{name: f, from: a, to: b, source: {{poisson: {{rate: {load}, packet: 500 B}}}}}}
measurement: {{warmup: 0 s, {measured}}}
runs: {{count: {runs}}}
variants:
  - {{name: FIFO, set: {{}}}}
  - {{name: FQ, set: {{topology.links.wan.policy: FQ}}}}
{more}"""


UNTIL = """axes:
  - {name: load, set: traffic.f.source.rate, values: [200 kb/s, 500 kb/s, 900 kb/s]}
study:
  replication:
    first: 3
    until:
      - {class: f, metric: owd_mean, within: 5 %}
"""
"""Points that get 3 runs and more, by what they show."""


def saved(directory):
    """The runs with their fingerprints, and the table of values, of a run directory."""
    runs = json.loads((directory / "results.json").read_text())["runs"]
    return runs, (directory / "results.parquet").read_bytes()
