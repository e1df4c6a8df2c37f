"""Router configurations as text for people: what was understood, and what was not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from spillgate.cli.text import console, count, wrapped
from spillgate.metrics import format_value

Record = Mapping[str, Any]

_INDENT = 2


def understood(found: Record, *, whole: bool) -> None:
    """Everything that `spillgate import` says; `whole`: the policies, not only their names."""
    out = console()
    platform = found["platform"]
    _line(out, 0, f"{found['file']} as {platform['name']}: {platform['summary']}", "bold")
    if not whole and found["interfaces"]:
        _line(out, 0, f"Rates count {platform['counts']}.")
    if not found["interfaces"]:
        _line(out, 0, "No interface has a policy.")
    for interface in found["interfaces"]:
        _interface(out, interface, whole=whole)
    if found["unattached"] and not whole:
        _line(out, 0, "Policies that no interface has:")
        for policy in found["unattached"]:
            _policy(out, policy, 1)
    out.print()
    if whole:
        _line(out, 0, "What the platform's meaning is from", "bold")
        for source in platform["sources"]:
            _line(out, 1, source)
        out.print()
    _notes(out, found)
    if not whole and found["interfaces"]:
        _line(out, 0, "--interface NAME shows what queues there.")


def _line(out: Console, depth: int, text: str, style: str = "") -> None:
    """A line whose continuation stands below its start."""
    indent = " " * (depth * _INDENT)
    width = max(20, out.width)
    for part in wrapped(text, width, indent, indent):
        out.print(Text(part, style), soft_wrap=True)


def _interface(out: Console, interface: Record, *, whole: bool) -> None:
    rate = _rate(interface["rate"])
    policy = interface["policy"]
    arriving = interface["input"]
    absent = "no output policy" if arriving else "no output policy that is modelled"
    name = policy["name"] if policy else absent
    if not whole:
        name += f", arriving packets {arriving['name']}" if arriving else ""
        said = f"{interface['name']}: {name}, {rate or 'unknown rate'} ({interface['rate_from']})"
        if ring := interface["ring"]:
            said += f", transmit ring of {count(ring['packets'], 'packet')}"
        _line(out, 1, said)
        return
    out.print()
    _line(out, 0, f"interface {interface['name']} (line {interface['line']})", "bold")
    _line(out, 1, f"rate {rate or 'unknown'}: {interface['rate_from']}")
    if circuit := interface["circuit"]:
        _line(out, 1, _circuit(circuit))
    _line(out, 1, interface["counts"])
    if ring := interface["ring"]:
        _line(out, 1, f"transmit ring of {count(ring['packets'], 'packet')}: {ring['from']}")
    if policy is None:
        _line(out, 1, name)
    else:
        _policy(out, policy, 1)
    if arriving is not None:
        _line(out, 1, "packets that arrive by it, before anything else:")
        _policy(out, arriving, 1, queues=False)


def _circuit(circuit: Record) -> str:
    """A circuit of ATM in words: its contract, and what is in its frames."""
    named = f" {circuit['name']}" if circuit["name"] else ""
    rates = [
        f"{key.upper()} {format_value(float(circuit[key]), 'b/s')}"
        for key in ("pcr", "mcr", "scr")
        if circuit[key] is not None
    ]
    cells = [f"MBS {circuit['mbs']} cells"] if circuit["mbs"] is not None else []
    contract = ", ".join(
        (circuit["category"], *(rates or ("up to the rate of the line",)), *cells)
    )
    where = f"circuit {circuit['vc']}{named} (line {circuit['line']})"
    return f"{where}: {contract}, {circuit['encapsulation']}"


def _policy(out: Console, policy: Record, depth: int, *, queues: bool = True) -> None:
    rate = _rate(policy["rate"])
    of = f" of {rate}" if rate else ""
    _line(out, depth, f"policy {policy['policy']} (line {policy['line']}), {policy['kind']}{of}")
    for text in _queue(policy):
        _line(out, depth + 1, text)
    for number, entry in enumerate(policy["classes"], 1):
        _line(out, depth + 1, f"{number}. class {entry['name']}", "bold")
        for text in _class(entry, queues=queues):
            _line(out, depth + 2, text)
        if entry["policy"] is not None:
            _policy(out, entry, depth + 2, queues=queues)


def _class(entry: Record, *, queues: bool) -> Iterator[str]:
    yield f"packets: {entry['condition']}"
    yield from entry.get("notes", ())
    yield from entry.get("marks", ())
    buckets = ("police", "priority_policer", "shape")
    police, priority, shape = ([b["words"]] if (b := entry.get(k)) else [] for k in buckets)
    yield from police
    if queues:
        yield entry["promise"] + (f" ({entry['asked']})" if entry["asked"] else "")
        yield from (*priority, *shape)
        if entry["policy"] is None:
            yield from _queue(entry)


def _queue(entry: Record) -> Iterator[str]:
    limits = filter(None, (entry["limit"], *(o["words"] for o in entry.get("dscp_limits", ()))))
    if shown := ", ".join(limits):
        yield f"queue limit {shown}"
    if entry["flows"]:
        yield f"fair queue: {entry['flows']}"
    for kind, parameters in entry.get("parameters", {}).items():
        yield f"{kind}: {', '.join(_parameters(parameters))}"
    for one in entry["thresholds"]:
        yield one["words"]


def _parameters(parameters: Record) -> Iterator[str]:
    for key, value in parameters.items():
        # Profiles are among the thresholds in force.
        if not isinstance(value, Mapping):
            shown = ("no", "yes")[value] if isinstance(value, bool) else value
            yield f"{key.replace('_', ' ')} {shown}"


def _rate(bps: int | None) -> str | None:
    return None if bps is None else format_value(float(bps), "b/s")


def _notes(out: Console, found: Record) -> None:
    if found["warnings"]:
        _line(out, 0, "Warnings", "bold")
        for w in found["warnings"]:
            hint = f" ({w['hint']})" if w.get("hint") else ""
            _line(out, 1, f"! line {w['line']}: {w['message']}{hint}")
        out.print()
    for understood, heading in (
        (False, "Configuration lines that are not understood"),
        (True, "Configuration lines without effect, or with less than on the router"),
    ):
        lines = [u for u in found["unmodelled"] if u["understood"] is understood]
        if not lines:
            continue
        _line(out, 0, heading, "bold")
        for u in lines:
            _line(out, 1, f"line {u['line']}: {u['text'].strip()} ({u['reason']})")
        out.print()
