"""Router configurations as text for people: what was understood, and what was not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from spillgate.cli.text import console, wrapped
from spillgate.metrics import format_value

Record = Mapping[str, Any]

_INDENT = 2


def understood(found: Record, *, whole: bool) -> None:
    """Everything that `spillgate import` says; `whole`: the policies, not only their names."""
    out = console()
    platform = found["platform"]
    _line(out, 0, f"{found['file']} as {platform['name']}: {platform['summary']}", "bold")
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
    rate = _rate(interface["rate"]) or "unknown rate"
    policy = interface["policy"]
    name = policy["name"] if policy else "no output policy that is modelled"
    arriving = interface["input"]
    if not whole:
        name += f", arriving packets {arriving['name']}" if arriving else ""
        _line(out, 1, f"{interface['name']}: {name}, {rate} ({interface['rate_from']})")
        return
    out.print()
    _line(out, 0, f"interface {interface['name']} (line {interface['line']})", "bold")
    _line(out, 1, f"rate {rate}: {interface['rate_from']}")
    if interface["counted_bytes"] is not None:
        _line(out, 1, f"rates count {interface['counted_bytes']} B beside each IP packet")
    if policy is None:
        _line(out, 1, name)
    else:
        _policy(out, policy, 1)
    if arriving is not None:
        _line(out, 1, "packets that arrive by it, before anything else:")
        _policy(out, arriving, 1, queues=False)


def _policy(out: Console, policy: Record, depth: int, *, queues: bool = True) -> None:
    rate = _rate(policy["rate"])
    of = f" of {rate}" if rate else ""
    _line(out, depth, f"policy {policy['name']} (line {policy['line']}), {policy['kind']}{of}")
    if policy["queue"] is not None:
        for text in _queue(policy["queue"]):
            _line(out, depth + 1, text)
    for number, entry in enumerate(policy["classes"], 1):
        _class(out, entry, number, depth + 1, queues=queues)


def _class(out: Console, entry: Record, number: int, depth: int, *, queues: bool) -> None:
    _line(out, depth, f"{number}. class {entry['name']}", "bold")
    for text in _class_lines(entry):
        _line(out, depth + 1, text)
    for text in _queue_lines(entry) if queues else ():
        _line(out, depth + 1, text)
    if entry["policy"] is not None:
        _policy(out, entry["policy"], depth + 1, queues=queues)


def _class_lines(entry: Record) -> Iterator[str]:
    yield f"packets: {entry['condition']}"
    for line in entry["criteria"]:
        if not line["modelled"]:
            yield f"not modelled: {line['text']} (line {line['line']})"
    if entry["set_dscp"] is not None:
        yield f"set dscp {entry['set_dscp']}, after the class is found"
    if entry["set_exp"] is not None:
        yield f"set exp {entry['set_exp']} of the top label, after the class is found"
    if entry["set_exp_imposition"] is not None:
        yield f"set exp {entry['set_exp_imposition']} of labels that are put on later"
    if entry["set_cos"] is not None:
        yield f"set cos {entry['set_cos']} of the 802.1Q tag"
    if entry["set_qos_group"] is not None:
        yield f"set qos-group {entry['set_qos_group']}, until it leaves the router"
    if entry["drops"]:
        yield "drops every packet"
    if entry["police"] is not None:
        yield f"police {_bucket(entry['police'])}: {entry['police']['does']}"


def _queue_lines(entry: Record) -> Iterator[str]:
    yield _service(entry)
    if entry["priority_policer"] is not None:
        policer = entry["priority_policer"]
        yield f"policer {_bucket(policer)}: {policer['does']}"
    if entry["shape"] is not None:
        yield f"shape {_bucket(entry['shape'])}"
    if entry["queue"] is not None:
        yield from _queue(entry["queue"])


def _service(entry: Record) -> str:
    if not entry["queued"]:
        return "no queue of its own: waits with class-default"
    guaranteed = _rate(entry["guaranteed"])
    asked = f" ({entry['asked']})" if entry["asked"] else ""
    if entry["priority"] is not None:
        if guaranteed:
            bound = f", up to {guaranteed} while anything waits"
        elif entry["police"] is not None:
            bound = ", bounded by the policer alone"
        else:
            bound = ", without a bound"
        return f"strict priority, level {entry['priority']}{bound}{asked}"
    if guaranteed is None:
        return f"gets a share of an unknown rate{asked}"
    return f"gets {guaranteed} while all wait{asked}"


def _bucket(bucket: Record) -> str:
    rate = _rate(bucket["rate"])
    text: str = bucket["asked"]
    if rate is not None and text.endswith("%"):
        text = f"{rate} ({text})"
    if bucket["burst"] is not None:
        text += f", burst {bucket['burst']} B"
    if bucket["peak_rate"] is not None:
        text += f", peak {_rate(bucket['peak_rate'])}"
    if bucket["excess_burst"] is not None:
        which = "excess" if bucket["peak_rate"] is None else "peak"
        text += f", {which} burst {bucket['excess_burst']} B"
    return text


def _queue(queue: Record) -> Iterator[str]:
    if queue["limit"]:
        yield f"queue limit {queue['limit']}"
    for field in ("dscp", "precedence"):
        limits = [f"{one['value']}: {one['limit']}" for one in queue[f"{field}_limits"]]
        if limits:
            yield f"queue limit by {field.replace('dscp', 'DSCP')}: {', '.join(limits)}"
    fair = queue["fair_queue"]
    if fair is not None:
        yield (
            f"fair queue: {fair['queues']} conversations of {fair['threshold']} packets, "
            f"{fair['hold_queue']} in all"
            + (", all flows alike" if fair.get("weights") == "equal" else "")
        )
    aqm = queue["aqm"]
    if aqm is not None:
        (kind, parameters), *_ = aqm.items()
        yield f"{kind}: {', '.join(_parameters(parameters))}"
    yield from _thresholds(queue["thresholds"], aqm)


def _parameters(parameters: Record) -> Iterator[str]:
    for key, value in parameters.items():
        name = key.replace("_", " ")
        # Profiles are among the thresholds in force.
        if not isinstance(value, Mapping):
            shown = ("no", "yes")[value] if isinstance(value, bool) else value
            yield f"{name} {shown}"


def _thresholds(found: Sequence[Record], aqm: Record | None) -> Iterator[str]:
    """A line for each pair of thresholds in force, in the order of the values."""
    by = (aqm or {}).get("wred", {}).get("by", "")
    for one in found:
        ends = "unknown: shares of a limit in time at an unknown rate"
        if one["min"] is not None:
            ends = f"{one['min']} to {one['max']} {one['unit']}, 1/{one['denominator']}"
        default = "" if one["written"] else " (default)"
        name = "DSCP" if by == "dscp" else by
        yield f"{name} {', '.join(one['values'])}: {ends}{default}"


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
