"""What of results, and which figures of them, a command line chooses."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from spillgate.errors import InputError
from spillgate.result import Results

if TYPE_CHECKING:
    from spillgate.plot import FigureSpec
    from spillgate.scenario import Description


def of_interest(results: Results, options: argparse.Namespace) -> Results:
    """The results of the points that `--where` chooses."""
    return results if options.where is None else results.where(options.where)


def figures(
    wanted: Path | Literal["default"] | None, described: Description
) -> list[FigureSpec] | Literal["default"] | None:
    """The chosen figures; a name that the scenario does not have is found before the run."""
    if wanted is None:
        return wanted
    # That nothing can draw is said before anything runs.
    from spillgate.plot import read_specs

    if wanted == "default":
        return wanted
    specs = read_specs(wanted)
    for spec in specs:
        try:
            spec.check(described)
        except (ValueError, InputError) as error:
            said = str(error).removeprefix("error: ")
            msg = f"{wanted}: error: figure {spec.file}: {said}"
            raise InputError(msg) from error
    return specs
