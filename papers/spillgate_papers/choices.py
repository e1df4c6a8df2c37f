"""Other choices for what a paper leaves silent, as users name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spillgate.errors import InputError
from spillgate_papers.model import Point, Silent


def chosen(silent: Sequence[Silent], wanted: Mapping[str, str]) -> dict[str, Point]:
    """The choices that are named, by key.

    Args:
        silent: What the paper leaves silent.
        wanted: A choice by key: its label, or a beginning of it that no other label has.

    Raises:
        InputError: If there is no such choice; says which there are.
    """
    known = {s.key: s for s in silent if s.points}
    found = {}
    for key, label in wanted.items():
        if key not in known:
            fixed = any(s.key == key for s in silent)
            what = f"{key!r} has one choice only" if fixed else f"the paper has no choice {key!r}"
            msg = f"error: --set {key}: {what}; those with others are {', '.join(known)}"
            raise InputError(msg)
        points = known[key].points
        exact = [p for p in points if p.label == label]
        near = exact or [p for p in points if p.label.startswith(label)]
        if len(near) != 1:
            what = "names several" if near else "is none"
            there = "; ".join(p.label for p in points)
            msg = f"error: --set {key}: {label!r} {what} of its choices; they are: {there}"
            raise InputError(msg)
        found[key] = near[0]
    return found
