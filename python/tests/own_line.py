"""A line with TCP and bursts, on which code of one's own stands beside built-in mechanisms."""

SCENARIO = """
schema_version: 1
topology:
  nodes: [a, b]
  links:
    wan: {{from: a, to: b, rate: 10 Mb/s, delay: 10 ms, policy: Q, duplex: true}}
policies:
  Q: {policy}
traffic:
  - flow: {{name: bulk, count: 4, from: a, to: b, tcp: {{cc: cubic, ecn: {ecn}}}}}
  - flow:
      name: bursts
      from: a
      to: b
      dscp: ef
      source: {{on-off: {{peak: {peak}, packet: 700 B, on: 20 ms, off: 80 ms}}}}
measurement: {{warmup: 0 s, duration: 8 s}}
runs: {{count: 2}}
"""


def scenario(policy, *, ecn="off", peak="20 Mb/s"):
    """The line with a policy, whose TCP connections speak ECN or do not."""
    return SCENARIO.format(policy=policy, ecn=ecn, peak=peak)
