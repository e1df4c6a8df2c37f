"""Why packets were late or lost: one run repeated, and its packets followed.

The answer is plain data, what `spillgate explain --format json` prints. Times are whole
picoseconds, so the parts of a delay add up to it exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from spillgate import _engine
from spillgate.displayed import Displayed
from spillgate.errors import InputError
from spillgate.own import Own
from spillgate.rundir import read_study
from spillgate.saved import load
from spillgate.scenario import Description

Record = dict[str, Any]

MOST = 1000
"""Most packets and drops that one question may ask for, by group."""


@dataclass(frozen=True)
class Explanation(Displayed):
    """Where delays went and why packets were dropped in one run.

    Attributes:
        name: Title of the scenario.
        variant: The variant.
        run: Number of the run, from 0.
        at: The link whose queue was asked about; None for the whole way.
        digest: Fingerprint of the run, the same as when it was run first.
        groups: One record a group of flows: `name`, `packets` (those that took longest first),
            `drops` and `marks` (with congestion experienced). Each of them, and each packet of
            drops and marks, has a `sentence`; packets have `notes`, and their hops the `parts` of
            the delay. Times are in picoseconds.
    """

    name: str
    variant: str
    run: int
    at: str | None
    digest: str
    groups: tuple[Record, ...]

    def to_dict(self) -> Record:
        """Everything as plain data."""
        return {
            "name": self.name,
            "variant": self.variant,
            "run": self.run,
            "at": self.at,
            "digest": self.digest,
            "groups": list(self.groups),
        }


class RecordedRun:
    """A run directory, opened to repeat one of its runs.

    Attributes:
        variant: Name of the chosen variant.
        run: Number of the chosen run.
        description: What was understood of its scenario.
        job: The scenario, ready to be run.
    """

    def __init__(
        self,
        directory: str | Path,
        *,
        variant: str | None = None,
        run: int = 0,
        own: Own | None = None,
        confine: bool = False,
    ) -> None:
        """Opens it; raises `InputError` if it is not what was run."""
        self.directory = Path(directory)
        self._study = read_study(self.directory)
        results = load(self.directory, confine=confine)
        variants = results.description.variants
        if variant is not None and variant not in variants:
            msg = f"error: there is no variant {variant!r}; there are {', '.join(variants)}"
            raise InputError(msg)
        self.variant = variant if variant is not None else variants[0]
        self.run = run
        digests = {r.run: r.digest for r in results.runs if r.variant == self.variant}
        if run not in digests:
            there = ", ".join(map(str, digests))
            msg = (
                f"error: {self.directory} has no run {run} of variant {self.variant!r}; "
                f"there are {there or 'none'}"
            )
            raise InputError(msg)
        self.expected = digests[run]
        source = results.source
        self.job = _engine.Job(
            str(source.path),
            list(results.overrides),
            [],
            results.description.seed,
            results.description.runs,
            1,
            confine=confine,
            files=source.overlay(),
            own=source.own.joined(own or Own()).parts(),
        )
        self.description = Description.from_json(self.job.describe())
        self.index = self.description.variants.index(self.variant)
        cast = self.job.cast(self.index)
        self.flows: list[tuple[str, str]] = [(name, cls) for name, cls in cast["flows"]]
        self.links: list[str] = cast["links"]

    def link(self, name: str) -> int:
        """Number of a link; raises `InputError` if there is none of this name."""
        if name not in self.links:
            msg = f"error: there is no link {name!r}{_alike(name, self.links)}"
            raise InputError(msg)
        return self.links.index(name)

    def matching(self, pattern: str) -> list[int]:
        """Flows by name, else by class, else those whose name or class matches a pattern."""
        tests = (
            lambda f: f[0] == pattern,
            lambda f: f[1] == pattern,
            lambda f: fnmatchcase(f[0], pattern) or fnmatchcase(f[1], pattern),
        )
        for test in tests:
            if found := [i for i, flow in enumerate(self.flows) if test(flow)]:
                return found
        names = [*(cls for _, cls in self.flows), *(name for name, _ in self.flows)]
        msg = (
            f"error: there is no flow or class {pattern!r}{_alike(pattern, names)}; "
            "patterns such as 'voice-*' are understood"
        )
        raise InputError(msg)

    def verify(self, digest: str) -> None:
        """Raises `InputError` if the repeated run was another one."""
        if digest == self.expected:
            return
        theirs = f"{self._study.get('version', '?')} ({self._study.get('commit', '?')})"
        ours = f"{_engine.VERSION} ({_engine.COMMIT})"
        why = (
            f"the directory was made by spillgate {theirs}, and this is {ours}"
            if theirs != ours
            else "the same version gives another result: please report this"
        )
        msg = (
            f"error: run {self.run} of variant {self.variant!r} cannot be repeated: its "
            f"fingerprint is {digest}, not {self.expected}; {why}"
        )
        raise InputError(msg)


def explain(
    directory: str | Path,
    *,
    flow: str | Sequence[str] | None = None,
    worst: int = 3,
    drops: int = 3,
    at: str | None = None,
    packet: int | None = None,
    acks: bool = False,
    variant: str | None = None,
    run: int = 0,
    own: Own | None = None,
    confine: bool = False,
) -> Explanation:
    """Tells where the delay of the worst packets went, and why packets were dropped or marked.

    The run is repeated, with the seed and files that the directory names, and must give the same
    fingerprint.

    Args:
        directory: A directory made by `spillgate run` or `Results.save`.
        flow: A flow, a class, or a pattern such as `voice-*`; or several of them, each a group of
            its own. Every class, if not given.
        worst: How many packets of each group, those that took longest.
        drops: How many drops of each group, queue and reason, and how many marks of each group and
            queue: the first of the measured period.
        at: A link: rank packets by their wait at its port, and show the drops there only.
        packet: Number of a packet: explain this one of each flow of the group, whatever it took.
        acks: Ask about the acknowledgments of the groups' connections, not about their data.
        variant: Name of the variant; the first, if not given.
        run: Number of the run.
        own: AQMs and schedulers of one's own that the scenario names, without which a run with
            them cannot be repeated.
        confine: Refuses files that are not in the directory.

    Returns:
        The explanation.

    Raises:
        InputError: If the directory cannot be read, is not what was run, or lacks what is named.
    """
    for name, value, least, most in (
        ("worst", worst, 0, MOST),
        ("drops", drops, 0, MOST),
        ("packet", packet, 0, 2**32 - 1),
    ):
        if not (value is None or least <= value <= most):
            msg = f"error: {name} must be {least} to {most}, not {value}"
            raise InputError(msg)
    recorded = RecordedRun(directory, variant=variant, run=run, own=own, confine=confine)
    if flow is None:
        names = list(dict.fromkeys(cls for _, cls in recorded.flows))
        groups = [(n, [i for i, f in enumerate(recorded.flows) if f[1] == n]) for n in names]
    else:
        patterns = [flow] if isinstance(flow, str) else list(flow)
        groups = [(p, recorded.matching(p)) for p in patterns]
    question = {
        "groups": groups,
        "worst": worst if packet is None else max(1, worst),
        "drops": drops,
        "at": None if at is None else recorded.link(at),
        "number": packet,
        "answers": acks,
    }
    answer = recorded.job.explain(recorded.index, run, question)
    recorded.verify(answer["digest"])
    if packet is not None and not any(g["packets"] for g in answer["groups"]):
        what = "an acknowledgment" if acks else "a packet"
        msg = f"error: no flow of {', '.join(n for n, _ in groups)} has sent {what} {packet}"
        raise InputError(msg)
    return Explanation(
        name=recorded.description.name,
        variant=recorded.variant,
        run=run,
        at=at,
        digest=answer["digest"],
        groups=tuple(answer["groups"]),
    )


def _alike(name: str, known: Sequence[str]) -> str:
    meant = _engine.nearest(name, list(known))
    if meant is not None:
        return f"; did you mean {meant}?"
    return f"; there are {_some(list(dict.fromkeys(known)))}"


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(list(names)[:12])
    return f"{shown}, ..." if len(names) > 12 else shown
