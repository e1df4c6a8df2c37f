"""The figure of a search: what decides about which claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from spillgate_papers.matching.shares import Shares
from spillgate_papers.matching.space import Space
from spillgate_papers.model import Picture
from spillgate_papers.show import saved


def shares(space: Space, claims: Sequence[str], of: Mapping[str, Shares | None]) -> Picture:
    """Total shares as a grid: claims by silent choices, the share written in each cell."""
    keys = [a.key for a in space.axes]
    rows = [c for c in claims if of[c] is not None]
    found = [s for c in claims if (s := of[c]) is not None]
    grid = np.array([s.total for s in found]).reshape(len(rows), len(keys)).clip(0.0, 1.0)

    def make() -> Figure:
        figure = Figure(
            figsize=(1.6 + 0.5 * len(keys), 1.6 + 0.3 * len(rows)), layout="constrained"
        )
        axes = figure.subplots()
        axes.imshow(grid, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
        axes.set_xticks(range(len(keys)), keys, rotation=45, ha="right", rotation_mode="anchor")
        axes.set_yticks(range(len(rows)), rows)
        for (i, j), share in np.ndenumerate(grid):
            if share >= 0.095:
                color = "white" if share > 0.6 else "black"
                axes.text(
                    j, i, f"{100 * share:.0f}", ha="center", va="center", color=color, size=8
                )
        axes.set_xlabel("silent choice")
        axes.set_ylabel("claim")
        return figure

    note = "Share (%) of the variance of a claim's score that a choice explains with all others."
    return Picture("shares", "What decides about which claim", saved(make), note)
