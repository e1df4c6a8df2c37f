"""What is to be best: a metric of a class of service, and in which direction."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spillgate.errors import InputError
from spillgate.labels import words

if TYPE_CHECKING:
    from spillgate.scenario import Description


@dataclass(frozen=True)
class Objective:
    """What is to be best.

    Attributes:
        cls: The class of service; "" for the margin of the requirements.
        metric: Its metric; `margin` for the smallest margin of all requirements, relative to
            their bounds.
        larger: Whether more of it is better.
    """

    cls: str
    metric: str
    larger: bool

    def __str__(self) -> str:
        """As the command line has it, but for the direction."""
        return f"{self.cls}:{self.metric}" if self.cls else self.metric

    @classmethod
    def read(cls, text: str, *, larger: bool) -> Objective:
        """`CLASS:METRIC`; raises `InputError`.

        Example:
            >>> str(Objective.read("data:loss_ratio", larger=False))
            'data:loss_ratio'
        """
        name, colon, metric = text.rpartition(":")
        if not colon or not name or not metric:
            msg = f"error: {text!r} is no objective: write CLASS:METRIC, such as data:loss_ratio"
            raise InputError(msg)
        known = words("metrics")
        if metric not in known:
            near = difflib.get_close_matches(metric, known, 1)
            said = f"; did you mean `{near[0]}`?" if near else ""
            msg = (
                f"error: {text}: there is no metric `{metric}`{said}\n"
                "    hint: docs/reference/metrics.md, or spillgate.metrics() in Python, lists them"
            )
            raise InputError(msg)
        return cls(name, metric, larger)

    @property
    def unit(self) -> str:
        """The base unit of the metric; "1" for the margin."""
        return str(words("metrics")[self.metric]["unit"]) if self.cls else "1"

    def check(self, d: Description, where: object) -> None:
        """Raises `InputError` if a scenario, whose path is `where`, has no such class."""
        if self.cls and self.cls not in d.classes:
            there = ", ".join(d.classes)
            msg = f"error: {where}: there is no class {self.cls!r}; there are {there}"
            raise InputError(msg)

    def not_measured(self, where: object) -> InputError:
        """That runs of a scenario, whose path is `where`, have no such value."""
        return InputError(
            f"error: {where}: {self.metric} of class {self.cls} is not measured\n"
            "    hint: docs/reference/metrics.md says what each metric needs"
        )


LEFT = Objective("", "margin", larger=True)
"""The smallest margin of the requirements: what is left."""
