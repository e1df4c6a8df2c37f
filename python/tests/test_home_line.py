"""The example of a home line with a narrow upstream, and what the how-to says of it."""

import spillgate


def test_the_download_needs_the_ack_filter(root):
    results = spillgate.run(root / "examples/home-line/narrow.yaml")
    verdicts = {v.variant: v.verdict for v in results.verdicts}
    assert verdicts == {"no filter": "fail", "ack-filter": "pass", "ack-filter-aggressive": "pass"}
    [filtered, *_] = [
        s.values
        for s in results.samples(scope="queue", name="up/best-effort", metric="drops_ack_filter")
        if any(s.values)
    ]
    assert min(filtered) > 1000
