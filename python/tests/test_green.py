"""GREEN with connections: packets arrive at its target, whatever their number."""

import pytest

import spillgate


def world(flows, aqm):
    links = {
        "in": {"from": "a", "to": "r", "rate": "1 Gb/s", "delay": "24 ms", "duplex": True},
        "out": {"from": "r", "to": "b", "rate": "10 Mb/s", "delay": "1 ms", "policy": "P"},
        "back": {"from": "b", "to": "r", "rate": "1 Gb/s", "delay": "1 ms"},
    }
    tcp = {"cc": "newreno", "sack": True, "mss": "948 B", "ecn": "classic"}
    flow = {"name": "f", "count": flows, "from": "a", "to": "b", "start_spread": "2 s", "tcp": tcp}
    return {
        "schema_version": 1,
        "topology": {"nodes": ["a", "r", "b"], "links": links},
        "policies": {"P": {"fifo": {"limit": "200 packets", "aqm": aqm}}},
        "traffic": [{"flow": flow}],
        "measurement": {"warmup": "20 s", "duration": "40 s"},
    }


@pytest.mark.parametrize("flows", [20, 80])
def test_packets_arrive_at_the_target(flows):
    """With marks all that arrives is carried: 0.97 of the link.

    The least step, for 1 % of distance, is the resolution of the control; the average of windows
    that halve and grow is below their peak, which it also sees, by less than another percent.
    """

    def carried_and_queue(aqm):
        results = spillgate.run(world(flows, aqm), runs=2)
        rows = {(row.scope, row.name, row.metric): row.mean for row in results.table()}
        queue = rows["queue", "out/fifo", "backlog_packets_mean"]
        return rows["link", "out", "utilization"], queue

    carried, queue = carried_and_queue({"green": {"ecn": True}})
    assert 0.95 < carried < 0.98
    full, long = carried_and_queue({"red": {"min_th": 20, "max_th": 80, "ecn": True}})
    assert full > 0.99
    assert queue < long / 2
