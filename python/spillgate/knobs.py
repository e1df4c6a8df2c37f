"""The parameters of mechanisms that are worth tuning, and how they are tuned in a port."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from spillgate.errors import InputError
from spillgate.mechanisms import Mechanism, keys_of
from spillgate.ports import Port, policies, settings, with_parameters
from spillgate.run import Progress, Simulation
from spillgate.scenario import override_texts
from spillgate.search import quantity
from spillgate.source import Source
from spillgate.tuning import tune

FACTOR = 8
"""A parameter is tried from this part of its value to so many times that, by equal ratios."""

KNOBS: Mapping[str, tuple[str, ...]] = {
    "red": ("thresholds", "max_p"),
    "codel": ("target", "interval"),
    "cobalt": ("target", "interval"),
    "fq-codel": ("target", "interval"),
    "pie": ("target", "alpha", "beta"),
    "fq-pie": ("target", "alpha", "beta"),
    "pi2": ("target", "alpha", "beta"),
    "dualpi2": ("target", "threshold", "alpha", "beta"),
    "cake": ("rtt",),
    "step": ("threshold",),
    "adaptive-red": ("target_delay", "interval"),
    "self-configuring-red": ("thresholds",),
    "load-adaptive-red": ("target_loss", "period"),
    "dsred": ("thresholds", "weight"),
    "rio": ("weight",),
    "adaptive-rio": ("weight", "update"),
    "green": ("gain", "time_constant"),
    "green-tcp": ("rtt", "window"),
    "blue": ("increment", "decrement", "freeze"),
    "choke": ("thresholds",),
    "pi": ("target",),
    "rem": ("target", "gamma"),
    "avq": ("alpha",),
    "sred": ("max_p",),
    "dred": ("alpha",),
    "sfb": ("increment", "decrement"),
    "wfq": ("hold_queue",),
}
"""Of others the limit is tuned. Both `thresholds` keep their ratio."""

STEPS = 9
"""So many thresholds are tried."""

SHARES = ("max_p", "target_loss", "increment", "decrement", "weight")
"""What is at most 1."""


def axes(m: Mechanism, policy: str) -> list[dict[str, Any]]:
    """The axes along which a mechanism is tuned; none without a number to begin with.

    Args:
        m: The mechanism.
        policy: The name that its policy has in the scenario.
    """
    [(outer, values)] = m.policy.items()
    path = f"policies.{policy}.{outer}"
    kind, held = outer, values
    if "aqm" in values:
        [(kind, held)] = values["aqm"].items()
        path += f".aqm.{kind}"
    if kind not in KNOBS:
        kind, held, path = outer, values, f"policies.{policy}.{outer}"
    found = []
    for key in KNOBS.get(kind, ("limit",)):
        if key == "thresholds":
            found.append(_thresholds(path, held))
            continue
        usual = keys_of(kind).get(key, {}).get("default")
        value = held.get(key, usual if usual is not None else _UNSAID.get((kind, key)))
        if value is not None and (ends := _ends(key, value)):
            low, high = ends
            found.append(
                {"name": key, "set": f"{path}.{key}", "from": low, "to": high, "scale": "log"}
            )
    return found


_UNSAID = {("red", "max_p"): 0.1, ("dualpi2", "threshold"): "800 us"}
"""Defaults that depend on `as`, which the schema therefore does not have."""


def _thresholds(path: str, held: Mapping[str, Any]) -> dict[str, Any]:
    """Both thresholds by equal ratios, as named points of an axis."""
    low, high = (float(held.get(key, usual)) for key, usual in _USUAL)
    factors = [FACTOR ** (2.0 * i / (STEPS - 1) - 1.0) for i in range(STEPS)]
    pairs = [(round(low * f, 2), round(high * f, 2)) for f in factors]
    points = [
        {"name": f"{a:g} to {b:g}", "set": {f"{path}.min_th": a, f"{path}.max_th": b}}
        for a, b in pairs
    ]
    return {"name": "thresholds", "points": points}


_USUAL = (("min_th", 5.0), ("max_th", 15.0))


def _ends(key: str, value: object) -> tuple[object, object] | None:
    """From a part of a value to a multiple of it."""
    if isinstance(value, int | float):
        high = value * FACTOR
        return value / FACTOR, min(high, 1.0) if key in SHARES else high
    number, unit, _ = quantity(key, str(value))
    low, high = float(number) / FACTOR, float(number) * FACTOR
    if unit == "packets":
        low, high = max(2, round(low)), round(high)
    return f"{low:.4g} {unit}", f"{high:.6g} {unit}"


def tuned(
    port: Port,
    mechanisms: Sequence[Mechanism],
    *,
    source: Source,
    overrides: Sequence[str],
    trials: int,
    runs: int,
    seed: int,
    store: str | Path | None = None,
    progress: Callable[[str, Progress], None] | None = None,
    **how: Any,  # noqa: ANN401 - as of `tune`
) -> tuple[Mechanism, ...]:
    """The mechanisms with the parameters that leave most of what the requirements allow.

    The reference and policies of the scenario stay as they are.

    Args:
        port: Where they stand.
        mechanisms: The reference and the others.
        source: The scenario.
        overrides: Replaced values, as texts.
        trials: Points that are tried of each mechanism.
        runs: Runs of each point.
        seed: The seed of the search; that of the comparison is to be another, since the best of
            many noisy points looks better than it is.
        store: Directory of stored runs.
        progress: Called while it runs, with what is run.
        how: Further arguments of `tune`.

    Raises:
        InputError: If the scenario has axes or no requirements.
    """
    confine = how.pop("confine", False)
    d = Simulation(source, set=overrides, sla=how.get("sla", ()), confine=confine).description
    if d.axes:
        msg = (
            f"error: {source.path}: mechanisms are not tuned at each place of axes\n"
            "    hint: leave out all axes with --set axes=[], or leave out --tune"
        )
        raise InputError(msg)
    named = policies(port, mechanisms)
    found = [mechanisms[0]]
    for m in mechanisms[1:]:
        knobs = axes(m, named[m.name]) if m.policy else []
        if not knobs:
            found.append(m)
            continue
        sets = settings(port, m, named[m.name])
        texts = override_texts({"variants": [], **sets, "axes": knobs})

        def told(what: str, p: Progress, name: str = m.name) -> None:
            if progress is not None:
                progress(f"{name}, {what}", p)

        best = tune(
            source,
            trials=trials,
            runs=runs,
            seed=seed,
            set=[*overrides, *texts],
            around=False,
            store=store,
            progress=told,
            **how,
        ).best
        values = {k: v for key, text in best.values.items() for k, v in _read(key, text)}
        found.append(with_parameters(m, values, f"tuned, the best of {trials} points"))
    return tuple(found)


def _read(key: str, text: str) -> Iterator[tuple[str, float | str]]:
    """The parameters that a place of an axis stands for."""
    if key == "thresholds":
        low, _, high = text.partition(" to ")
        yield from (("min_th", float(low)), ("max_th", float(high)))
    else:
        yield key, _number(text)


def _number(text: str) -> float | str:
    """A value of an axis as a scenario writes it: a number stays one."""
    try:
        return float(text)
    except ValueError:
        return text
