"""Customers with agreements: what the how-to says, from Python and from the command line."""

import pytest
from test_docs import snippets, tables

import spillgate

PAGE = "docs/howto/agreements.md"
SHORT = {"measurement.duration": "10 s"}
PROMISED = {"site-0": 4e6, "site-1": 2e6, "site-2": 1e6}


@pytest.fixture
def scenario(root, tmp_path):
    """The scenario of the how-to, beside its table."""
    (text,) = [t for p, _, t in snippets(root, "yaml") if p == PAGE and t.startswith("schema")]
    for name, table in tables(root, PAGE):
        (tmp_path / name).write_text(table, encoding="utf-8")
    path = tmp_path / "scenario.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_customers_of_the_how_to_get_what_they_were_promised(scenario):
    # Buckets of 50 ms are shorter than what Cisco advises for TCP.
    assert {f.id for f in spillgate.lint(scenario).found} == {"SG-S004"}
    results = spillgate.run(scenario, runs=1, set=SHORT)
    assert results.description.warnings == ()
    for i, (site, promised) in enumerate(PROMISED.items()):
        # What TCP sends into an agreement is cut by nobody: all of it is let in, in some color.
        let_in = results.value(None, "input", f"{site}/{site}", "carried").mean
        offered = results.value(None, "input", f"{site}/{site}", "offered").mean
        assert let_in == offered
        # Packets in profile go first (RFC 2597), and the line has room for all of them.
        got = results.value(None, "class", f"data-{i}", "throughput").mean
        assert got > 0.9 * promised, f"{site} gets {got}"
    # Three calls of 80 kb/s in three buckets of 300 kb/s.
    assert results.value(None, "class", "voice", "loss_ratio").mean == 0
    # What is lower effort waits as long as the others have packets.
    assert results.value(None, "queue", "line/scavenger", "carried").mean < 0.1e6


def test_one_agreement_is_changed_by_its_customer_and_all_by_their_defaults(scenario):
    one = spillgate.check(scenario, set={"policies.EDGE.classes.site-0.police.rate": "9 Mb/s"})
    (said,) = one.warnings
    # 9 + 2 + 1 Mb/s, and voice at three links.
    assert "customers are promised 12.9 Mb/s of link `line`, 129.0 % of its 10 Mb/s" in said
    with pytest.raises(spillgate.InputError, match="is not a per-hop behavior"):
        spillgate.check(
            scenario,
            set={"agreements[0].defaults": {"phb": "af9"}},
            files={"customers.csv": "customer,rate\nsite-0,1 Mb/s\n"},
        )


def test_a_refused_packet_names_its_customer(scenario, cli):
    done = cli(
        "run", scenario.name, "--out", "run", "--runs", "1", "--no-figures",
        "--set", "measurement.duration=2 s",
        "--set", "policies.EDGE.classes.voice.police.rate=40 kb/s",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = cli("explain", "run", "--flow", "calls-0", "--drops", "1")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "at the receiving end of site-0, class voice: the policer had tokens" in said, said


def test_an_agreement_may_have_an_excess_burst_alone(scenario):
    head = "customer,phb,rate,meter,burst,excess_burst\n"
    rows = {"site-0": "0 B,30 kB", "site-1": "30 kB,0 B"}
    table = head + "".join(f"{site},af1,1 Mb/s,srtcm,{b}\n" for site, b in rows.items())
    # RFC 2697, section 2: one of the two must be above 0.
    assert not spillgate.check(scenario, files={"customers.csv": table}).warnings
    both = table.replace("0 B,30 kB", "0 B,0 B")
    with pytest.raises(spillgate.InputError, match="one must be above 0"):
        spillgate.check(scenario, files={"customers.csv": both})
