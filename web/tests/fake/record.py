"""Writes what the fake engine of tests answers.

With a built `spillgate`, from the root: `python web/tests/fake/record.py`.
"""

import json
from pathlib import Path
from typing import Any

from spillgate import _native

HERE = Path(__file__).parent
SCENARIO = Path("examples/first/scenario.yaml")
SET = ["measurement.duration=2 s", "measurement.interval=100 ms", "runs.count=2"]
SCOPES = ["total", "class", "queue", "link"]
METRICS = ["throughput", "loss_ratio", "owd_mean", "owd_p99", "backlog_mean", "utilization"]

# The kinds that the schema of tests keeps; all others would only make it long.
KINDS = {
    "DisciplineSpec": ["fifo", "class-based", "fq-codel"],
    "AqmSpec": ["red", "codel"],
    "SourceSpec": ["cbr", "poisson"],
    "TrafficSpec": ["flow"],
    "CcSpec": ["reno", "cubic"],
}
DROPPED = {
    *(
        "agreements",
        "axes",
        "configs",
        "study",
        "voice",
        "sla",
        "verdicts",
        "pattern",
        "src",
        "dst",
    ),
    *("atm", "atm_switch", "switch", "mpls", "forwarding", "loss", "tcp", "police", "shape"),
    *("cake", "fq_pie", "sfq", "dualpi2", "fan", "hfsc", "htb"),
}


def kept(name: str, definition: dict[str, Any]) -> object:
    """A definition with only the kinds that tests use."""
    if name in KINDS:
        options = [
            option
            for option in definition["oneOf"]
            if "enum" in option or set(option.get("properties", {})) & set(KINDS[name])
        ]
        definition = definition | {"oneOf": options}
    return without(definition)


def without(value: object) -> object:
    """A schema without the keys that tests do not use."""
    if isinstance(value, list):
        return [without(v) for v in value]
    if not isinstance(value, dict):
        return value
    return {
        key: (
            {k: without(v) for k, v in inner.items() if k not in DROPPED}
            if key == "properties"
            else without(inner)
        )
        for key, inner in value.items()
    }


def references(value: object) -> set[str]:
    """The names of definitions that a schema refers to."""
    if isinstance(value, list):
        return set().union(*(references(v) for v in value))
    if not isinstance(value, dict):
        return set()
    own = {value["$ref"].split("/")[-1]} if isinstance(value.get("$ref"), str) else set()
    return own.union(*(references(v) for v in value.values()))


def schema() -> dict[str, object]:
    """The scenario's schema, cut down to what tests use."""
    whole = json.loads(_native.schema())
    definitions = {name: kept(name, d) for name, d in whole.pop("$defs").items()}
    top = without(whole)
    used: set[str] = set()
    todo = references(top)
    while todo:
        used |= todo
        todo = set().union(*(references(definitions[name]) for name in todo)) - used
    return {**top, "$defs": {name: definitions[name] for name in sorted(used)}}


def answers() -> dict[str, object]:
    """What the core says of a short run of the first example."""
    job = _native.Job(SCENARIO, overrides=SET)
    described = json.loads(job.describe())
    job.start(series=[0])
    job.join(60)
    results = job.results()
    parts = ("verdicts", "bounds", "differences", "transients", "runs", "distributions", "words")
    outcome = {name: json.loads(getattr(results, name)()) for name in parts}
    outcome["differences"] = [d for d in outcome["differences"] if d["metric"] in METRICS]
    outcome["summary"] = json.loads(results.summary(SCOPES, METRICS, set()))
    outcome["series"] = [
        {
            "variant": variant,
            "run": run,
            "place": place,
            "metric": metric,
            "unit": unit,
            "start": start,
            "step": step,
            "values": memoryview(values).cast("d").tolist(),
        }
        for variant, run, (place, metric, unit), (start, step), values in results.series()
    ]
    linted = json.loads(_native.lint(SCENARIO, True, overrides=SET))
    catalog = json.loads(_native.catalog())
    names = ("verdicts", "effects", "scopes", "series", "metrics")
    return {
        "scenario": SCENARIO.read_text(encoding="utf-8"),
        "checked": {
            "description": described,
            "findings": linted["findings"],
            "memoryBytes": described["memory_bytes"],
        },
        "outcome": outcome,
        "catalog": {
            name: [e for e in catalog[name] if name != "metrics" or e["name"] in METRICS]
            for name in names
        },
    }


def write(name: str, value: object) -> None:
    """Writes JSON that does not change where nothing has."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    (HERE / name).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    write("schema.json", schema())
    write("answers.json", answers())
