"""A paper's table of flows, and tables with other rates and starts."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path

Row = Mapping[str, str]


class Flows:
    """The rows of a CSV file of traffic: `name`, `count`, `class`, `dscp` and `rate` in Mb/s.

    Attributes:
        rows: The rows, in the order of the file.
    """

    def __init__(self, path: Path) -> None:
        """Reads the file; lines that begin with `#` are comments."""
        lines = path.read_text(encoding="utf-8").splitlines()
        self.rows: list[Row] = list(csv.DictReader(x for x in lines if not x.startswith("#")))

    def offered(self, cls: str = "") -> float:
        """What a class offers in Mb/s, or all."""
        return sum(mbps(r) * int(r["count"]) for r in self.rows if not cls or r["class"] == cls)

    def by_rate(self, points: tuple[str, ...]) -> dict[float, list[str]]:
        """The names of the flows with these DSCPs by their rate in Mb/s, ascending."""
        found: dict[float, list[str]] = {}
        for r in self.rows:
            if r["dscp"] in points:
                names = [f"{r['name']}-{i}" for i in range(int(r["count"]))]
                found.setdefault(mbps(r), []).extend(names)
        return dict(sorted(found.items()))

    def text(self, rate: Callable[[Row], float] | None = None, gap: int = 0) -> str:
        """The table with other rates in Mb/s, or each flow `gap` microseconds after the last."""
        lines = ["name,count,class,dscp,rate" + (",phase" if gap else "")]
        for r in self.rows:
            bits = round((rate or mbps)(r) * 1e6)
            n, like = int(r["count"]), f"{r['class']},{r['dscp']},{bits} b/s"
            first = len(lines) - 1
            lines += (
                [f"{r['name']}-{i},1,{like},{(first + i) * gap} us" for i in range(n)]
                if gap
                else [f"{r['name']},{n},{like}"]
            )
        return "\n".join(lines) + "\n"

    def scaled(self, load: float) -> str:
        """The table with its rates multiplied so that `load` Mb/s are offered in all."""
        factor = load / self.offered()
        return self.text(lambda r: mbps(r) * factor)

    def evened(self) -> str:
        """The table with one rate in each class, the mean of its flows'."""
        count: dict[str, int] = {}
        for r in self.rows:
            count[r["class"]] = count.get(r["class"], 0) + int(r["count"])
        return self.text(lambda r: self.offered(r["class"]) / count[r["class"]])


def mbps(row: Row) -> float:
    """Rate of each flow of a row in Mb/s.

    Example:
        >>> mbps({"rate": "1.5 Mb/s"})
        1.5
    """
    return float(row["rate"].removesuffix(" Mb/s"))
