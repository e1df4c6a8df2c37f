"""What may stand in one port of a scenario, and the scenario with each of it in a variant."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spillgate import _engine
from spillgate.errors import InputError
from spillgate.mechanisms import (
    NAMES,
    Mechanism,
    free_name,
    kind_of,
    mechanism,
    port_of,
    unknown,
)
from spillgate.run import Simulation
from spillgate.scenario import Description, override_texts
from spillgate.source import Source

AS_IT_IS = "as it is"
"""What the port's own queueing is called, if none of the names is its policy's."""


@dataclass(frozen=True)
class Port:
    """Where mechanisms are compared.

    Attributes:
        link: The link that it feeds, as the scenario writes it.
        rate: The rate that its policies are made for, in b/s.
        policy: The policy that it has; empty for none.
        base: What the scenario's variant sets, on which all others build.
        policies: Names of all policies of the scenario.
        taken: What a scenario must set for the interface of a router configuration that goes to
            the link to do so no more, as its policy does with it.
        variant: Name of that variant; empty without variants.
        rates: All rates that it has in that variant, by axes, in b/s, in ascending order.
    """

    link: str
    rate: float
    policy: str
    base: Mapping[str, Any]
    policies: tuple[str, ...]
    taken: Mapping[str, Any]
    variant: str
    rates: tuple[float, ...]


def port_at(
    source: Source,
    port: str,
    *,
    variant: str | None = None,
    overrides: Sequence[str] = (),
    confine: bool = False,
) -> Port:
    """The port of that name, and what the scenario says of it.

    Args:
        source: The scenario.
        port: A link, or its ends: `wan`, `r1->r2`.
        variant: In which variant of the scenario; the first if not given.
        overrides: Replaced values, as texts.
        confine: As for `spillgate.run`.

    Raises:
        InputError: If there is no such port or variant, or it has no policy of its own.
    """
    d = Simulation(source, set=overrides, confine=confine).description

    def written(point: int) -> dict[str, Any]:
        return _engine.written(
            str(source.path),
            point,
            overrides=list(overrides),
            confine=confine,
            files=source.overlay(),
            own=source.own.parts(),
        )

    sets = {v["name"]: v["set"] for v in written(0)["variants"]}
    if variant is not None and variant not in sets:
        there = ", ".join(sets) or "none"
        msg = f"error: {source.path}: there is no variant {variant!r}; there are {there}"
        raise InputError(msg)
    name = next(iter(sets), "") if variant is None else variant
    numbers = [i for i, p in enumerate(d.points) if not sets or p.variant == name]
    number = numbers[0]
    of = written(number)
    links = {x["name"]: x for x in of["links"]}
    ends = [(n, x["from"], x["to"]) for n, x in links.items()]
    ends += [(f"{n}.reverse", x["to"], x["from"]) for n, x in links.items() if x["duplex"]]
    link = port_of(port, ends)
    policy = d.policies[number][index_of(d, link)]
    rates = {x["rate"] for n in numbers for x in written(n)["links"] if x["name"] == link}
    return Port(
        link,
        links[link]["rate"],
        "" if policy == "none" else policy,
        sets.get(name, {}),
        tuple(of["policies"]),
        {
            f"configs[{n}].interfaces": {k: to for k, to in there.items() if to != link}
            for n, there in enumerate(of["interfaces"])
            if link in there.values()
        },
        name,
        tuple(sorted(rates)),
    )


def chosen(
    port: Port,
    names: Sequence[str],
    *,
    own: Collection[str] = (),
    rtt: float | None = None,
    ecn: bool | None = True,
    limit: str | int | None = None,
) -> tuple[Mechanism, ...]:
    """The mechanisms of these names at a port, its own queueing first.

    A name is one of a policy of the scenario, of an AQM of one's own, or of `mechanisms.NAMES`, in
    this order.

    Args:
        port: The port.
        names: What is asked for.
        own: Names of AQMs of one's own.
        rtt: As for `mechanisms.mechanism`.
        ecn: As for `mechanisms.mechanism`.
        limit: As for `mechanisms.mechanism`.

    Raises:
        InputError: If a name is unknown or given twice, or there are not two.
    """
    found: dict[str, Mechanism] = {}
    reference = port.policy if port.policy in names else AS_IT_IS
    said = f"policy {port.policy} of the scenario" if port.policy else "no policy: a FIFO of 1 GB"
    found[""] = Mechanism(reference, {}, (said,))
    for name in names:
        if name == reference:
            continue
        if name in port.policies and name not in own:
            made = Mechanism(name, {}, (f"policy {name} of the scenario",))
            kind = name
        else:
            valid = (*own, *(p for p in port.policies if p != reference))
            if name not in own and kind_of(name) is None:
                raise unknown(name, valid)
            made = mechanism(
                name, rate_bps=port.rate, rtt_s=rtt, ecn=ecn, limit=limit, own=tuple(own)
            )
            kind = name if name in own else kind_of(name) or name
        if kind in found:
            same = found[kind].name
            twice = "is given twice" if same == name else f"is the same as {same}"
            msg = f"error: {name} {twice}\n    hint: name each mechanism once"
            raise InputError(msg)
        found[kind] = made
    if len(found) < 2:
        msg = (
            f"error: there is nothing to compare with {reference}, which port {port.link} has\n"
            f"    hint: name other mechanisms: {', '.join(NAMES[:20])}, ..."
        )
        raise InputError(msg)
    return tuple(found.values())


def policies(port: Port, mechanisms: Sequence[Mechanism]) -> dict[str, str]:
    """The policy that the port has under each mechanism, by name."""
    found, taken = {}, set(port.policies)
    for m in mechanisms:
        if m is mechanisms[0]:
            found[m.name] = port.policy or "none"
        else:
            found[m.name] = free_name(m.name, taken) if m.policy else m.name
            taken.add(found[m.name])
    return found


def settings(port: Port, m: Mechanism, policy: str) -> dict[str, Any]:
    """What a scenario must set, by path, for a mechanism to stand in the port as that policy."""
    sets = {**port.base, **port.taken, f"topology.links.{json.dumps(port.link)}.policy": policy}
    if m.policy:
        sets[f"policies.{policy}"] = m.policy
    return sets


def variants(port: Port, mechanisms: Sequence[Mechanism]) -> list[str]:
    """Overrides that make each mechanism a variant, and compare every two."""
    reference, *others = mechanisms
    named = policies(port, mechanisms)
    made = [{"name": reference.name, "set": dict(port.base)}]
    made += [{"name": m.name, "set": settings(port, m, named[m.name])} for m in others]
    return override_texts({"variants": made, "verdicts.against": json.dumps("all")})


def index_of(d: Description, link: str) -> int:
    """Where a link is, or the first one of a group."""
    return next(i for i, x in enumerate(d.links) if x["name"] in (link, f"{link}-0"))


def with_parameters(m: Mechanism, parameters: Mapping[str, object], why: str) -> Mechanism:
    """A mechanism with other parameters, each stated with its reason."""
    [(outer, values)] = m.policy.items()
    policy: dict[str, Any] = {outer: {**values, **parameters}}
    if "aqm" in values:
        [(kind, of)] = values["aqm"].items()
        policy = {outer: {**values, "aqm": {kind: {**of, **parameters}}}}
    kept = [s for s in m.stated if s.split()[0].rstrip(":") not in parameters]
    return replace(
        m, policy=policy, stated=(*(f"{k} {v} ({why})" for k, v in parameters.items()), *kept)
    )
